/** The variables by which `kubectl` finds an API server. They are not the platform's own, so they are no settings. */
import { Config, Effect, Option } from "effect"

const variable = (name: string) => Effect.map(Config.option(Config.String(name)), Option.getOrUndefined)

export const kubernetesSurroundings = Effect.all({
  KUBECONFIG: variable("KUBECONFIG"),
  KUBERNETES_SERVICE_HOST: variable("KUBERNETES_SERVICE_HOST"),
  KUBERNETES_SERVICE_PORT: variable("KUBERNETES_SERVICE_PORT"),
  HOME: variable("HOME")
})

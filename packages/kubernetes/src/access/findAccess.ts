/**
 * Access as `kubectl` finds it: the first file of `KUBECONFIG`, else the service account of the pod that this process runs
 * in, else `~/.kube/config`.
 */
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { Effect, Redacted } from "effect"
import type { ApiAccess } from "./ApiAccess.ts"
import { accessOfFile, fileText } from "./Kubeconfig.ts"
import { unusable } from "./KubernetesUnusable.ts"

export interface Surroundings {
  readonly KUBECONFIG?: string | undefined
  readonly KUBERNETES_SERVICE_HOST?: string | undefined
  readonly KUBERNETES_SERVICE_PORT?: string | undefined
  readonly HOME?: string | undefined
}

/** Where Kubernetes mounts the service account of a pod. */
const mounted = "/var/run/secrets/kubernetes.io/serviceaccount"

const inPod = (host: string, port: string, directory: string) =>
  Effect.gen(function* () {
    const access: ApiAccess = {
      server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
      ca: yield* fileText(join(directory, "ca.crt")),
      token: Effect.map(fileText(join(directory, "token")), (found) => Redacted.make(found.trim())),
      ownNamespace: (yield* fileText(join(directory, "namespace"))).trim()
    }
    return access
  })

/** `directory` is where the service account is mounted. */
export const findAccess = Effect.fn("findAccess")(function* (surroundings: Surroundings, directory = mounted) {
  const { HOME, KUBECONFIG, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = surroundings
  const [named] = (KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "")
  if (named !== undefined) return yield* accessOfFile(named)
  if (host !== undefined && port !== undefined) return yield* inPod(host, port, directory)
  const usual = HOME === undefined ? undefined : join(HOME, ".kube", "config")
  if (usual !== undefined && existsSync(usual)) return yield* accessOfFile(usual)
  return yield* unusable(
    "There is no kubeconfig: set KUBECONFIG, or run in a pod with a service account that is mounted."
  )
})

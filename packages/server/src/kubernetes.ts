/**
 * Computes on Kubernetes (`NARTHEX_COMPUTE=kubernetes`). The package of the driver is loaded only where the settings ask for it.
 */
import type { ComputeDriver } from "@narthex/core"
import type { KubernetesOptions } from "@narthex/kubernetes/options"
import { Effect, Layer, Schema } from "effect"
import { kubernetesSurroundings } from "./settings/kubernetesSurroundings.ts"

/** Kubernetes cannot be used, with every reason. Nothing was changed. */
export class KubernetesRefused extends Schema.TaggedError<KubernetesRefused>()("KubernetesRefused", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

const refused = ({ message }: { readonly message: string }) => new KubernetesRefused({ reason: message })

export const layerKubernetes = (options: KubernetesOptions): Layer.Layer<ComputeDriver, KubernetesRefused> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { findAccess, KubernetesComputeDriver } = yield* Effect.promise(() => import("@narthex/kubernetes"))
      const surroundings = yield* Effect.mapError(kubernetesSurroundings, refused)
      const access = yield* Effect.mapError(findAccess(surroundings), refused)
      return Layer.effectContext(
        Effect.mapError(Layer.build(KubernetesComputeDriver.layer({ ...options, access })), refused)
      )
    })
  )

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

const loaded = Effect.gen(function* () {
  const { findAccess, KubernetesComputeDriver } = yield* Effect.promise(() => import("@narthex/kubernetes"))
  const surroundings = yield* Effect.mapError(kubernetesSurroundings, refused)
  return { driver: KubernetesComputeDriver, access: yield* Effect.mapError(findAccess(surroundings), refused) }
})

export const layerKubernetes = (options: KubernetesOptions): Layer.Layer<ComputeDriver, KubernetesRefused> =>
  Layer.unwrap(
    Effect.map(loaded, ({ access, driver }) =>
      Layer.effectContext(Effect.mapError(Layer.build(driver.layer({ ...options, access })), refused))
    )
  )

/** Fails with everything that a start would miss, and changes nothing. */
export const checkKubernetes = (options: KubernetesOptions): Effect.Effect<void, KubernetesRefused> =>
  Effect.flatMap(loaded, ({ access, driver }) => Effect.mapError(driver.check({ ...options, access }), refused))

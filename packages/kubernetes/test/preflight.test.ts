/** A driver that could not work is not built, and says what to change (docs/design/kubernetes.md K21). */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { clusters, secrets, snapshots } from "./support/api/resources.ts"
import { driverOn } from "./support/doubledComputes.ts"
import { type Kubernetes, KubernetesDouble } from "./support/KubernetesDouble.ts"

/** The sentence with which a driver refuses to be built; empty: it was built. */
const refusal = (
  options: Parameters<typeof driverOn>[0],
  break_: (kubernetes: Kubernetes) => void = () => undefined
): Effect.Effect<string, never, KubernetesDouble> =>
  Effect.gen(function* () {
    const kubernetes = yield* KubernetesDouble
    break_(kubernetes)
    const built = yield* Effect.result(Effect.scoped(Layer.build(Layer.fresh(driverOn(options)))))
    kubernetes.faults.clear()
    return built._tag === "Success" ? "" : String(built.failure)
  }).pipe(Effect.provide(Logger.layer([])))

describe("the preflight of computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(KubernetesDouble.layer, { excludeTestServices: true })((it) => {
    it.effect("a cluster with the operator, snapshots and rights is accepted", () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* refusal({}), "")
        assert.strictEqual(yield* refusal({ per_organization: true }), "")
      })
    )

    const cases: ReadonlyArray<{
      readonly without: string
      readonly options?: Parameters<typeof driverOn>[0]
      readonly because?: (kubernetes: Kubernetes) => void
      readonly says: ReadonlyArray<string>
    }> = [
      {
        without: "the operator and snapshots",
        because: ({ faults }) => {
          faults.uninstall(clusters.group)
          faults.uninstall(snapshots.group)
        },
        says: ["CloudNativePG", "snapshot.storage.k8s.io"]
      },
      { without: "the storage class", options: { storage_class: "absent" }, says: ["storage class absent"] },
      { without: "the snapshot class", options: { snapshot_class: "absent" }, says: ["snapshot class absent"] },
      { without: "snapshots of the storage", options: { storage_class: "local" }, says: ["local", "copied"] },
      { without: "an end of volumes", options: { storage_class: "kept" }, says: ["kept", "Delete"] },
      { without: "the namespace", options: { namespace: "absent" }, says: ["namespace absent"] },
      {
        without: "rights",
        because: ({ faults }) => {
          faults.forbid("get", secrets)
          faults.forbid("create", snapshots)
        },
        says: [
          "kubectl auth can-i get secrets --namespace computes",
          "kubectl auth can-i create volumesnapshots.snapshot.storage.k8s.io --namespace computes"
        ]
      }
    ]
    for (const { because, options = {}, says, without } of cases)
      it.effect(`a cluster without ${without} is refused, in words`, () =>
        Effect.gen(function* () {
          const said = yield* refusal(options, because)
          for (const words of says) assert.include(said, words)
        })
      )
  })
)

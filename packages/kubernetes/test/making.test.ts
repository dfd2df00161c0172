/** Branches that are not made, or not any more: what the operator says about their clusters (docs/design/kubernetes.md K5, K8). */
import { assert, describe, layer } from "@effect/vitest"
import { type BranchId, ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Effect, Fiber, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { withAt } from "./support/api/json.ts"
import { clusters } from "./support/api/resources.ts"
import { doubledComputes, namespace } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

const clusterOf = (branch: BranchId) =>
  Effect.map(KubernetesDouble, ({ store }) => store.find(clusters, namespace, `${branch}-1`))

/** A creation that the operator has not begun with. */
const begun = Effect.fnUntraced(function* (branch: BranchId) {
  const driver = yield* ComputeDriver
  const { operator } = yield* KubernetesDouble
  operator.pause()
  const making = yield* Effect.forkChild(Effect.exit(driver.createBranch(branch, Option.none())))
  yield* eventually(
    "the cluster",
    Effect.map(clusterOf(branch), (cluster) => cluster !== undefined)
  )
  return { driver, making, resume: Effect.sync(() => operator.resume()) }
})

/** The failure of a creation during which the operator reports a phase. */
const failedIn = Effect.fnUntraced(function* (phase: string) {
  const branch = aBranchId()
  const { making } = yield* begun(branch)
  const { store } = yield* KubernetesDouble
  store.update(clusters, (yield* clusterOf(branch)) ?? {}, (it) => withAt(it, ["status", "phase"], phase))
  return yield* Effect.flip(yield* Fiber.join(making))
})

describe("branches that are being made on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("a cluster that its operator gives up fails for good, and one without disk space waits for it", () =>
      Effect.gen(function* () {
        const lost = yield* failedIn("Cluster is unrecoverable and needs manual intervention")
        assert.deepStrictEqual([lost.retryable, lost.busy], [false, undefined])
        assert.notInclude(lost.reason, "unrecoverable")
        assert.include(lost.detail, "unrecoverable")
        const full = yield* failedIn("Not enough disk space")
        assert.deepStrictEqual([full.retryable, full.busy], [true, true])
      })
    )

    it.effect("a branch that is deleted while it is made is gone, and its creation ends", () =>
      Effect.gen(function* () {
        const branch = aBranchId()
        const { driver, making, resume } = yield* begun(branch)
        yield* driver.deleteBranch(branch)
        const failure = yield* Effect.flip(yield* Fiber.join(making))
        assert.isTrue(failure.retryable)
        yield* resume
        assert.isUndefined(yield* clusterOf(branch))
      })
    )

    it.effect("a creation that was interrupted goes on when it is repeated", () =>
      Effect.gen(function* () {
        const branch = aBranchId()
        const { driver, making, resume } = yield* begun(branch)
        yield* Fiber.interrupt(making)
        yield* resume
        yield* driver.createBranch(branch, Option.none())
        const start = { branch_id: branch, endpoint_id: anEndpointId(), generation: 1, roles: [] }
        yield* driver.start(start)
        yield* driver.stop(start.endpoint_id)
      })
    )

    it.effect("a start that was interrupted leaves nothing that a stop does not end", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const kubernetes = yield* KubernetesDouble
        const start = { branch_id: aBranchId(), endpoint_id: anEndpointId(), generation: 1, roles: [] }
        yield* driver.createBranch(start.branch_id, Option.none())
        const paused = kubernetes.faults.pause({ verb: "get" })
        const starting = yield* Effect.forkChild(driver.start(start))
        yield* Effect.promise(() => paused.reached)
        const ended = yield* Effect.forkChild(Fiber.interrupt(starting))
        yield* Effect.sync(paused.release)
        yield* Fiber.join(ended)
        yield* driver.stop(start.endpoint_id)
        yield* eventually(
          "the end of all pods",
          Effect.sync(() => kubernetes.pods().length === 0)
        )
        assert.deepStrictEqual(yield* driver.running, [])
      })
    )
  })
)

/** A call that lost its claim changes nothing, wherever it was stopped and continued (docs/design/kubernetes.md K14, K15, K16). */
import { assert, describe, layer } from "@effect/vitest"
import { type BranchId, type Compute, ComputeDriver, type ComputeFailed, ComputeFence } from "@narthex/core"
import { aBranchId } from "@narthex/core/testing"
import { Effect, Fiber, Option } from "effect"
import type { Which } from "./support/api/Faults.ts"
import { nameIn } from "./support/api/ObjectStore.ts"
import { clusters, secrets, snapshots } from "./support/api/resources.ts"
import { doubledComputes, mint, sessionAt } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"
import { oneBranch } from "./support/oneBranch.ts"

let fence = 7

/** A call under a claim that is later than all before. */
const claimed = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => Effect.provideService(call, ComputeFence, fence++))

/** A branch that runs, with one role. */
const running = Effect.map(oneBranch("read_write"), ({ start, ...rest }) => ({ ...start, ...rest }))

/**
 * Stops a call at the request that `which` names, makes a later call, continues the first and returns its failure.
 */
const overtaken = <A, B>(call: Effect.Effect<A, ComputeFailed>, which: Which, next: Effect.Effect<B, ComputeFailed>) =>
  Effect.gen(function* () {
    const { faults } = yield* KubernetesDouble
    const paused = faults.pause(which)
    const first = yield* Effect.forkChild(Effect.flip(claimed(call)))
    yield* Effect.promise(() => paused.reached)
    yield* claimed(next)
    yield* Effect.sync(paused.release)
    return yield* Fiber.join(first)
  })

const isBusy = (failure: unknown) => {
  assert.deepInclude(failure, { _tag: "ComputeFailed", retryable: true, busy: true })
}

const runs = (compute: Compute) =>
  Effect.map(
    ComputeDriver.use(({ running }) => running),
    (all) =>
      all.some(
        ({ endpoint_id, generation }) => endpoint_id === compute.endpoint_id && generation === compute.generation
      )
  )

const clustersOf = (branch: BranchId) =>
  Effect.map(KubernetesDouble, (kubernetes) =>
    kubernetes
      .clusters()
      .map(nameIn)
      .filter((name) => name.startsWith(`${branch}-`))
  )

describe("fences of computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("a stop that was overtaken before its change leaves the compute running", () =>
      Effect.gen(function* () {
        const { cluster, compute, driver, endpoint_id, ...start } = yield* running
        const again = driver.start({ ...start, endpoint_id })
        const which: Which = { verb: "patch", resource: clusters, name: cluster }
        isBusy(yield* overtaken(driver.stop(endpoint_id), which, again))
        assert.isTrue(yield* runs(compute))
      })
    )

    for (const { resource, what } of [
      { what: "before its session", resource: secrets },
      { what: "after its session has begun", resource: clusters }
    ])
      it.effect(`a change of roles that was overtaken ${what} changes none`, () =>
        Effect.gen(function* () {
          const { branch_id, cluster, compute, driver, role } = yield* running
          const [other, kept] = [yield* mint(), yield* mint()]
          const { faults } = yield* KubernetesDouble
          const paused = faults.pause({ verb: "get", resource: secrets, name: `${cluster}-superuser` })
          const first = yield* Effect.forkChild(Effect.flip(claimed(driver.applyRoles(branch_id, [other.minted]))))
          yield* Effect.promise(() => paused.reached)
          const atSession = resource === clusters ? faults.pause({ verb: "get", resource, name: cluster }) : undefined
          if (atSession !== undefined) {
            paused.release()
            yield* Effect.promise(() => atSession.reached)
          }
          yield* claimed(driver.applyRoles(branch_id, [role.minted, kept.minted]))
          paused.release()
          atSession?.release()
          isBusy(yield* Fiber.join(first))
          for (const each of [role, kept]) yield* Effect.scoped(sessionAt(compute, each.minted.role, each.password))
          assert.isTrue(yield* Effect.isFailure(Effect.scoped(sessionAt(compute, other.minted.role, other.password))))
        })
      )

    it.effect("a deletion that was overtaken before its request keeps the data", () =>
      Effect.gen(function* () {
        const { branch_id, cluster, compute, driver, endpoint_id, ...start } = yield* running
        const which: Which = { verb: "delete", resource: clusters, name: cluster }
        isBusy(
          yield* overtaken(driver.deleteBranch(branch_id), which, driver.start({ ...start, branch_id, endpoint_id }))
        )
        assert.deepStrictEqual(yield* clustersOf(branch_id), [cluster])
        assert.isTrue(yield* runs(compute))
      })
    )

    it.effect("a reset that was overtaken by another makes no data, and the other's stay", () =>
      Effect.gen(function* () {
        const parent = yield* running
        const driver = yield* ComputeDriver
        const branch_id = aBranchId()
        yield* driver.createBranch(branch_id, Option.none())
        const reset = driver.resetBranch(branch_id, parent.branch_id)
        isBusy(yield* overtaken(reset, { verb: "create", resource: snapshots }, reset))
        assert.deepStrictEqual(yield* clustersOf(branch_id), [`${branch_id}-2`])
      })
    )

    it.effect("a start whose answer was lost is repeated, and runs once", () =>
      Effect.gen(function* () {
        const { cluster, compute, driver, endpoint_id, ...start } = yield* running
        yield* driver.stop(endpoint_id)
        const { faults } = yield* KubernetesDouble
        faults.loseAnswer({ verb: "patch", resource: clusters, name: cluster })
        const generation = compute.generation + 1
        const next = { ...start, endpoint_id, generation }
        const failure = yield* Effect.flip(driver.start(next))
        assert.isTrue(failure.retryable)
        yield* driver.start(next)
        assert.deepStrictEqual([yield* runs(compute), yield* runs({ ...compute, generation })], [false, true])
      })
    )
  })
)

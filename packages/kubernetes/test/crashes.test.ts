/** A runner that ends in the middle of a call: another one carries it out (docs/design/kubernetes.md K2, K26). */
import { assert, describe, layer } from "@effect/vitest"
import { type BranchId, ComputeDriver, type ComputeFailed, ComputeFence, type EndpointSize } from "@narthex/core"
import { aBranchId, anEndpointId, largeSize } from "@narthex/core/testing"
import { Context, Effect, Fiber, Layer, Option, Random } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { long } from "../../../test/harness/long.ts"
import { note } from "../../../test/harness/note.ts"
import { nameIn } from "./support/api/ObjectStore.ts"
import { snapshots } from "./support/api/resources.ts"
import { doubledComputes, driverOn, mint } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"

type Driver = ComputeDriver["Service"]

/** Each method, on a branch that is as the method finds it, with the number of clusters that the branch has afterwards. */
interface Crashed {
  readonly method: string
  readonly prepare?: (driver: Driver, branch: BranchId) => Effect.Effect<unknown, ComputeFailed>
  readonly call: (driver: Driver, branch: BranchId, parent: BranchId) => Effect.Effect<unknown, ComputeFailed>
  readonly leaves: 0 | 1
  readonly runs: boolean
}

const endpoint_id = anEndpointId()

const methods = Effect.map(mint(), (role): ReadonlyArray<Crashed> => {
  const start = (driver: Driver, branch_id: BranchId, generation = 1, size: EndpointSize | null = null) =>
    driver.start({ branch_id, endpoint_id, generation, roles: [role.minted], size })
  const create = (driver: Driver, branch: BranchId) => driver.createBranch(branch, Option.none())
  const started = (driver: Driver, branch: BranchId) => Effect.andThen(create(driver, branch), start(driver, branch))
  return [
    { method: "createBranch", call: create, leaves: 1, runs: false },
    {
      method: "createBranch from a parent",
      call: (driver, branch, parent) => driver.createBranch(branch, Option.some(parent)),
      leaves: 1,
      runs: false
    },
    { method: "start", prepare: create, call: (driver, branch) => start(driver, branch), leaves: 1, runs: true },
    {
      method: "start of another size",
      prepare: started,
      call: (driver, branch) => start(driver, branch, 2, largeSize),
      leaves: 1,
      runs: true
    },
    {
      method: "applyRoles",
      prepare: started,
      call: (driver, branch) => driver.applyRoles(branch, [role.minted]),
      leaves: 1,
      runs: true
    },
    { method: "stop", prepare: started, call: (driver) => driver.stop(endpoint_id), leaves: 1, runs: false },
    {
      method: "resetBranch",
      prepare: started,
      call: (driver, branch, parent) => driver.resetBranch(branch, parent),
      leaves: 1,
      runs: false
    },
    {
      method: "deleteBranch",
      prepare: started,
      call: (driver, branch) => driver.deleteBranch(branch),
      leaves: 0,
      runs: false
    }
  ]
})

const runner = Effect.map(Layer.build(Layer.fresh(driverOn())), (built) => Context.get(built, ComputeDriver))

/** Ends the first runner at the call of this number; whether it got there. */
const crash = ({ call, leaves, method, prepare, runs }: Crashed, parent: BranchId, at: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const kubernetes = yield* KubernetesDouble
      const [first, second, branch] = [yield* runner, yield* runner, aBranchId()]
      if (prepare !== undefined) yield* prepare(first, branch)
      const paused = kubernetes.faults.pause({ after: at - 1 })
      const claimed = (driver: Driver, fence: number) =>
        Effect.provideService(call(driver, branch, parent), ComputeFence, fence)
      const lost = yield* Effect.forkChild(Effect.exit(claimed(first, 1)))
      const reached = yield* Effect.raceFirst(
        Effect.as(
          Effect.promise(() => paused.reached),
          true
        ),
        Effect.as(Fiber.join(lost), false)
      )
      // The connection of a process that has ended is closed before its last call is carried out, or afterwards.
      const interrupted = yield* Effect.forkChild(Fiber.interrupt(lost))
      paused.release()
      yield* Fiber.join(interrupted)
      kubernetes.faults.clear()
      yield* Effect.retry(claimed(second, 2), { while: ({ retryable }) => retryable, times: 20 })
      const what = `${method}, ended at call ${at}`
      const names = kubernetes.clusters().map(nameIn)
      assert.lengthOf(
        names.filter((name) => name.startsWith(`${branch}-`)),
        leaves,
        what
      )
      assert.lengthOf(kubernetes.store.list(snapshots), 0, what)
      const running = (yield* second.running).filter(({ branch_id }) => branch_id === branch)
      assert.lengthOf(running, runs ? 1 : 0, what)
      yield* second.deleteBranch(branch)
      yield* eventually(
        "the end of its pods",
        Effect.sync(() => !kubernetes.pods().some((pod) => nameIn(pod).startsWith(`${branch}-`)))
      )
      return reached
    })
  )

describe("runners that end on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("a call that ended with its runner, at any of its requests, is carried out by another", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const parent = aBranchId()
        yield* driver.createBranch(parent, Option.none())
        const all = yield* methods
        if (!long) {
          // Some places, which are others in each run.
          for (const method of yield* Random.shuffle(all).pipe(Effect.map((some) => some.slice(0, 3))))
            yield* crash(method, parent, yield* Random.nextIntBetween(1, 12))
          return
        }
        const requests: Record<string, number> = {}
        for (const method of all) {
          let at = 1
          while (yield* crash(method, parent, at)) at++
          requests[method.method] = at - 1
        }
        note(`requests: ${JSON.stringify(requests)}`)
      })
    )
  })
)

/** A core with a running operation runner that can be held in the middle of its work, and endpoints to race on. */
import { assert } from "@effect/vitest"
import {
  type Branch,
  Branches,
  ComputeDriver,
  defaultRunnerSettings,
  type Endpoint,
  EndpointStore,
  EventFeed,
  layerMemoryComputes,
  OperationRunner,
  OperationStore,
  type Project,
  Projects,
  RunnerPolicy,
  type SessionCaller
} from "@narthex/core"
import { Duration, Effect, Layer, Option, Random, Stream } from "effect"
import { eventually } from "../../harness/eventually.ts"
import { Barrier } from "./Barrier.ts"
import { signIn, worldWith } from "./world.ts"

/** Holds a runner after it has read the endpoints of a branch and before it acts on them. */
export const read = new Barrier()
/** The size with which the compute of an endpoint was started last. */
export const sizes = new Map<string, string | undefined>()
/** Holds a starting compute. */
export const start = new Barrier()

/** Puts a barrier between the runner's read of a branch's endpoints and what it does with them. */
const unhurried = Layer.effect(
  EndpointStore,
  Effect.map(EndpointStore, (store) =>
    EndpointStore.of({
      ...store,
      ofBranch: (branch) =>
        Effect.gen(function* () {
          const endpoints = yield* store.ofBranch(branch)
          yield* read.pass
          yield* Effect.sleep(yield* Random.nextIntBetween(0, 8))
          return endpoints
        })
    })
  )
)

const computes = Layer.effect(
  ComputeDriver,
  Effect.map(ComputeDriver, (driver) =>
    ComputeDriver.of({
      ...driver,
      start: (compute) =>
        Effect.suspend(() => {
          sizes.set(compute.endpoint_id, compute.size?.name)
          return Effect.andThen(start.pass, driver.start(compute))
        })
    })
  )
).pipe(Layer.provide(layerMemoryComputes))

/** As in production: an operation that is announced in the log is claimed at once. */
const followed = Layer.effectDiscard(
  Effect.gen(function* () {
    const { nudge } = yield* OperationRunner
    const { events } = yield* EventFeed
    yield* Effect.forkScoped(Stream.runForEach(events, () => nudge))
  })
)

export const runner = followed.pipe(
  Layer.provideMerge(OperationRunner.layer),
  Layer.provide(unhurried),
  Layer.provide(
    Layer.succeed(RunnerPolicy, {
      ...defaultRunnerSettings,
      lease: Duration.minutes(5),
      poll: Duration.millis(50)
    })
  ),
  Layer.provideMerge(worldWith(computes))
)

/** Completes when the branch has no unfinished operation. Returns its operations, newest first. */
export const settled = (project: Project, branch: Branch) =>
  Effect.gen(function* () {
    const store = yield* OperationStore
    yield* eventually(
      `the operations of branch ${branch.id}`,
      Effect.map(store.unfinished(branch.id), (left) => left.length === 0)
    )
    const { items } = yield* store.list(project.id, { branch_id: branch.id }, { limit: 100, after: null })
    return items
  })

const newBranch = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }

export const freshBranch = (owner: SessionCaller, project: Project) =>
  Effect.gen(function* () {
    const { branch, endpoint } = yield* (yield* Branches).create(owner, project, newBranch)
    return endpoint === null ? yield* Effect.die(new Error("no endpoint")) : { branch, endpoint }
  })

/** A branch of a new project, ready and idle. */
export const idleBranch = (email: string) =>
  Effect.gen(function* () {
    const owner = yield* signIn(email)
    const { project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
    const at = yield* freshBranch(owner, project)
    yield* settled(project, at.branch)
    return { owner, project, ...at }
  })

export const stored = (endpoint: Endpoint) =>
  Effect.flatMap(EndpointStore, ({ findAnywhere }) =>
    Effect.map(findAnywhere(endpoint.id), (it) => Option.getOrUndefined(it) ?? assert.fail("the endpoint is gone"))
  )

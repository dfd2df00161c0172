/** Endpoints that are woken, started, suspended and changed by many at once, while operations are being worked on. */
import { layer } from "@effect/vitest"
import {
  Branches,
  type Branch,
  bySystem,
  changes,
  type Endpoint,
  Endpoints,
  EndpointStore,
  initiatorOf,
  isFinal,
  OperationRunner,
  OperationStore,
  type Project,
  Projects,
  RunnerPolicy,
  type SessionCaller,
  Wakes
} from "@narthex/core"
import { Duration, Effect, Layer, Option, Random, Result } from "effect"
import { patience, race, rounds } from "./support/rounds.ts"
import { signIn, world } from "./support/world.ts"

const wakes = 60
const policy = changes("write", "change_projects", "branch")

/** Between the runner's read of a branch's endpoints and what it makes of them there is time for others. */
const unhurried = Layer.effect(
  EndpointStore,
  Effect.map(EndpointStore, (store) =>
    EndpointStore.of({
      ...store,
      ofBranch: (branch) =>
        Effect.tap(store.ofBranch(branch), () => Effect.flatMap(Random.nextIntBetween(0, 8), (ms) => Effect.sleep(ms)))
    })
  )
)

const runner = OperationRunner.layer.pipe(
  Layer.provide(unhurried),
  Layer.provide(
    Layer.succeed(RunnerPolicy, {
      lease: Duration.seconds(30),
      concurrency: 8,
      poll: Duration.millis(5),
      retries: 4
    })
  ),
  Layer.provideMerge(world)
)

/** Done when nothing is left to do on the branch. Answers what was done there last, newest first. */
const settled = (project: Project, branch: Branch) =>
  Effect.gen(function* () {
    const store = yield* OperationStore
    while ((yield* store.unfinished(branch.id)).length > 0) yield* Effect.sleep(2)
    const { items } = yield* store.list(project.id, branch.id, { limit: 100, after: null })
    return items
  })

const freshBranch = (owner: SessionCaller, project: Project) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
    const { branch, endpoint } = yield* branches.create(owner, project, wanted)
    return endpoint === null ? yield* Effect.die(new Error("no endpoint")) : { branch, endpoint }
  })

const stored = (endpoint: Endpoint) => Effect.flatMap(EndpointStore, ({ findAnywhere }) => findAnywhere(endpoint.id))

layer(runner, { excludeTestServices: true })("endpoints", (it) => {
  it.effect(
    `${wakes} parallel wakes of one endpoint are one start`,
    () =>
      Effect.gen(function* () {
        const { wake } = yield* Wakes
        const { head } = yield* Endpoints
        const owner = yield* signIn("wakes@example.com")
        const { project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
        const own = yield* Effect.forEach([0, 1], () => freshBranch(owner, project))
        yield* rounds(
          "wakes",
          (_, lane) =>
            Effect.gen(function* () {
              const at = own[lane]
              if (at === undefined) return ["there is no such lane"]
              const before = yield* settled(project, at.branch)
              const outcomes = yield* race(Array.from({ length: wakes }, () => wake(at.endpoint.id, "203.0.113.7")))
              const after = yield* settled(project, at.branch)
              const fresh = after.filter(({ id }) => !before.some((it) => it.id === id)).map(({ action }) => action)
              const awake = new Set(
                outcomes.map((it) => (Result.isSuccess(it) ? JSON.stringify(it.success) : it.failure._tag))
              )
              yield* head(project, at.endpoint.id, "idle", bySystem)
              yield* settled(project, at.branch)
              return [
                ...(fresh.join() === "start_compute" ? [] : [`operations: ${fresh.join(", ")}`]),
                ...(awake.size === 1 && outcomes.every(Result.isSuccess) ? [] : [`answers: ${[...awake].join(", ")}`])
              ]
            }),
          { lanes: 2 }
        )
      }),
    patience
  )

  it.effect(
    "parallel starts, suspends, resets and changes keep an endpoint's states in order and lose no change",
    () =>
      Effect.gen(function* () {
        const { change, head } = yield* Endpoints
        const { reset } = yield* Branches
        const owner = yield* signIn("states@example.com")
        const { project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
        const initiator = initiatorOf(owner)
        yield* rounds("starts, suspends, resets, changes", (n) =>
          Effect.gen(function* () {
            // It is still being made while the others come.
            const { branch, endpoint } = yield* freshBranch(owner, project)
            // One after the other: the last one stands in the end.
            const timeouts = Array.from({ length: 12 }, (_, at) => 1_000 + n * 12 + at)
            const towards = Effect.flatMap(Random.nextBoolean, (up) =>
              Effect.asVoid(head(project, endpoint.id, up ? "active" : "idle", initiator))
            )
            const some = Effect.andThen(
              Effect.flatMap(Random.nextIntBetween(0, 40), (ms) => Effect.sleep(ms)),
              towards
            )
            const outcomes = yield* race<void, unknown, never>([
              Effect.forEach(
                timeouts,
                (suspend_timeout_seconds) => change(owner, project, endpoint, { suspend_timeout_seconds }),
                { discard: true }
              ),
              Effect.ignore(Effect.delay(reset(owner, policy, branch), yield* Random.nextIntBetween(0, 30))),
              ...Array.from({ length: 8 }, () => some)
            ])
            const failed = outcomes.filter(Result.isFailure)
            const work = yield* settled(project, branch)
            const end = Option.getOrUndefined(yield* stored(endpoint))
            if (end === undefined) return ["the endpoint is gone"]
            const computes = work.filter((it) => it.action === "start_compute" || it.action === "suspend_compute")
            const finished = computes.filter((it) => it.status === "finished")
            const starts = finished.filter((it) => it.action === "start_compute").length
            const unsound = work.filter((it) => !isFinal(it.status) || it.status === "failed" || it.status === "error")
            const rest = end.current_state === "active" ? end.address !== null : end.address === null
            return [
              ...failed.map((it) => `refused: ${String(it.failure)}`),
              ...unsound.map((it) => `${it.action} is ${it.status}: ${it.error}`),
              ...(end.suspend_timeout_seconds === timeouts.at(-1) ? [] : ["a change was lost"]),
              ...(end.pending_state === null ? [] : [`it waits for ${end.pending_state} with nothing to do`]),
              ...(end.generation === starts ? [] : [`generation ${end.generation} after ${starts} starts`]),
              ...(rest ? [] : [`${end.current_state} at ${end.address}`])
            ]
          })
        )
      }),
    patience
  )
})

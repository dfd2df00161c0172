/** Parallel wakes, starts, suspends and changes of endpoints, while a runner performs operations. */
import { assert, layer } from "@effect/vitest"
import {
  type Branch,
  Branches,
  bySystem,
  changes,
  type Endpoint,
  Endpoints,
  initiatorOf,
  isFinal,
  Projects,
  ProxyRequests,
  SizeCatalog
} from "@narthex/core"
import { testSizes } from "@narthex/core/testing"
import { Effect, Fiber, Random, Result } from "effect"
import { times } from "../harness/long.ts"
import { freshBranch, idleBranch, read, runner, settled, sizes, start, stored } from "./support/endpoints.ts"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { signIn } from "./support/world.ts"

const wakes = times(12, 60)
const policy = changes("write", "change_projects", "branch")

const actionsOf = (work: ReadonlyArray<{ readonly action: string }>) => work.map(({ action }) => action)

layer(runner, { excludeTestServices: true })("endpoints", (it) => {
  it.effect("a wake that waits for another wake shares its start", () =>
    Effect.gen(function* () {
      const { wake } = yield* ProxyRequests
      const { branch, endpoint, project } = yield* idleBranch("waiting-wakes@example.com")
      const one = wake(endpoint.id, "203.0.113.7")
      const { first, others } = yield* inOrder(
        one,
        Array.from({ length: 12 }, () => one)
      )
      const answers = [first, ...others].map((it) => (Result.isSuccess(it) ? it.success.address : it.failure._tag))
      assert.deepStrictEqual([...new Set(answers)], ["memory.invalid:1"])
      assert.deepStrictEqual(actionsOf(yield* settled(project, branch)), ["start_compute", "create_branch"])
    })
  )

  it.effect("a wake or a start of an endpoint that is starting shares that start", () =>
    Effect.gen(function* () {
      const { wake } = yield* ProxyRequests
      const { setDesiredState } = yield* Endpoints
      const { branch, endpoint, project } = yield* idleBranch("running-start@example.com")
      const waking = Effect.forkChild(wake(endpoint.id, "203.0.113.7"))
      const [shared, ...woken] = yield* start.during("the compute to start", waking, (first) =>
        Effect.all([setDesiredState(project, endpoint.id, "active", bySystem), Effect.succeed(first), waking])
      )
      const answers = yield* Effect.forEach(woken, (it) => Fiber.join(it))
      const work = yield* settled(project, branch)
      assert.deepStrictEqual(
        answers.map(({ address }) => address),
        ["memory.invalid:1", "memory.invalid:1"]
      )
      assert.deepStrictEqual(actionsOf(work), ["start_compute", "create_branch"])
      assert.deepStrictEqual(
        shared.operations.map(({ id }) => id),
        work.slice(0, 1).map(({ id }) => id)
      )
    })
  )

  it.effect(
    `${wakes} parallel wakes of one endpoint make one start`,
    () =>
      Effect.gen(function* () {
        const { wake } = yield* ProxyRequests
        const { setDesiredState } = yield* Endpoints
        const lanes = yield* Effect.forEach([0, 1], (lane) => idleBranch(`wakes-${lane}@example.com`))
        yield* rounds(
          "wakes",
          (_, lane) =>
            Effect.gen(function* () {
              const at = lanes[lane]
              if (at === undefined) return ["there is no such lane"]
              const before = yield* settled(at.project, at.branch)
              const outcomes = yield* race(Array.from({ length: wakes }, () => wake(at.endpoint.id, "203.0.113.7")))
              const after = yield* settled(at.project, at.branch)
              const fresh = actionsOf(after.filter(({ id }) => !before.some((it) => it.id === id)))
              const awake = new Set(
                outcomes.map((it) => (Result.isSuccess(it) ? JSON.stringify(it.success) : it.failure._tag))
              )
              // As a person: the system suspends only what has been idle for its time-out.
              yield* setDesiredState(at.project, at.endpoint.id, "idle", initiatorOf(at.owner))
              yield* settled(at.project, at.branch)
              return [
                ...(fresh.join() === "start_compute" ? [] : [`operations: ${fresh.join(", ")}`]),
                ...(awake.size === 1 && outcomes.every(Result.isSuccess) ? [] : [`answers: ${[...awake].join(", ")}`])
              ]
            }),
          { count: 5, lanes: 2 }
        )
      }),
    patience
  )

  it.effect(
    "two people who change the size, with others who suspend, start and wake, leave a compute of the endpoint's size",
    () =>
      Effect.gen(function* () {
        const { wake } = yield* ProxyRequests
        const { bring, change } = yield* Endpoints
        const lanes = yield* Effect.forEach([0, 1], (lane) => idleBranch(`sizes-${lane}@example.com`))
        const outcomes: Record<string, number> = {}
        yield* rounds(
          "changes of size",
          (_, lane) =>
            Effect.gen(function* () {
              const { branch, endpoint, owner, project } = lanes[lane] ?? assert.fail("there is no such lane")
              const to = (size: string) => change(owner, policy, project, endpoint, { size })
              const moved = (state: "active" | "idle") => bring(owner, policy, project, endpoint, state)
              const people: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
                to("large"),
                to("small"),
                to("large"),
                wake(endpoint.id, "203.0.113.7"),
                moved("idle"),
                moved("active")
              ]
              yield* race(people)
              yield* settled(project, branch)
              const { current_state, resized, size } = yield* stored(endpoint)
              outcomes[current_state] = (outcomes[current_state] ?? 0) + 1
              if (current_state !== "active") return []
              return sizes.get(endpoint.id) === size?.name && !resized
                ? []
                : [`${sizes.get(endpoint.id)}, not ${size?.name}`]
            }),
          { count: 6, lanes: 2, outcomes }
        )
      }).pipe(Effect.provideService(SizeCatalog, testSizes)),
    patience
  )

  /** Work on a branch whose end brings its endpoints to rest. */
  type Work = Effect.Effect<{ readonly branch: Branch; readonly endpoint: Endpoint }, unknown, Branches>
  const works = {
    making: (email: string) =>
      Effect.map(idleBranch(email), ({ owner, project }) => {
        const work: Work = freshBranch(owner, project)
        return { owner, project, work }
      }),
    reset: (email: string) =>
      Effect.gen(function* () {
        const { branch, endpoint, owner, project } = yield* idleBranch(email)
        yield* (yield* ProxyRequests).wake(endpoint.id, "203.0.113.7")
        yield* settled(project, branch)
        const work: Work = Effect.as((yield* Branches).reset(owner, policy, branch), { branch, endpoint })
        return { owner, project, work }
      })
  }
  for (const name of ["making", "reset"] as const)
    it.effect(`a change and a start are kept while the runner completes the ${name} of a branch`, () =>
      Effect.gen(function* () {
        const { change, setDesiredState } = yield* Endpoints
        const { owner, project, work } = yield* works[name](`${name}@example.com`)
        const { branch, endpoint } = yield* read.during("the runner to read the endpoints", work, (at) =>
          Effect.as(
            Effect.andThen(
              change(owner, policy, project, at.endpoint, { suspend_timeout_seconds: 4321 }),
              setDesiredState(project, at.endpoint.id, "active", initiatorOf(owner))
            ),
            at
          )
        )
        const [last] = yield* settled(project, branch)
        assert.deepStrictEqual([last?.action, last?.status], ["start_compute", "finished"])
        const { address, current_state, generation, pending_state, suspend_timeout_seconds } = yield* stored(endpoint)
        assert.deepStrictEqual([current_state, pending_state], ["active", null])
        assert.strictEqual(address, `memory.invalid:${generation}`)
        assert.strictEqual(suspend_timeout_seconds, 4321)
      })
    )

  it.effect(
    "parallel starts, suspends, resets and changes keep an endpoint's states in order and lose no change",
    () =>
      Effect.gen(function* () {
        const { change, setDesiredState } = yield* Endpoints
        const { reset } = yield* Branches
        const owner = yield* signIn("states@example.com")
        const { project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
        const initiator = initiatorOf(owner)
        yield* rounds("starts, suspends, resets, changes", (n) =>
          Effect.gen(function* () {
            // The branch is still being made while the changes come.
            const { branch, endpoint } = yield* freshBranch(owner, project)
            // One after the other: the last one stands in the end.
            const timeouts = Array.from({ length: 12 }, (_, at) => 1_000 + n * 12 + at)
            const heads = yield* Effect.forEach(Array.from({ length: 8 }), () =>
              Effect.gen(function* () {
                const towards = (yield* Random.nextBoolean) ? "active" : "idle"
                const late = yield* Random.nextIntBetween(0, 40)
                return Effect.asVoid(Effect.delay(setDesiredState(project, endpoint.id, towards, initiator), late))
              })
            )
            const outcomes = yield* race<void, unknown, never>([
              Effect.forEach(
                timeouts,
                (suspend_timeout_seconds) => change(owner, policy, project, endpoint, { suspend_timeout_seconds }),
                { discard: true }
              ),
              Effect.ignore(Effect.delay(reset(owner, policy, branch), yield* Random.nextIntBetween(0, 30))),
              ...heads
            ])
            const failed = outcomes.filter(Result.isFailure)
            const work = yield* settled(project, branch)
            const end = yield* stored(endpoint)
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

/**
 * Wakes whose start is claimed by the runner of their process as it is scheduled (docs/design/operations.md O22): in one
 * transaction, in turn, and without losing a place or an operation.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { defaultRunnerSettings, RunnerPolicy } from "../../src/runner/RunnerPolicy.ts"
import { IpAllowlist } from "../../src/services/allowlist/IpAllowlist.ts"
import { initiatorOf } from "../../src/services/operations/Operations.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { ProxyRequests } from "../../src/services/proxy-requests/ProxyRequests.ts"
import { Boundary, Machines, MortalCore, settle, signedIn, turn, until } from "../memory/core.ts"
import { operation, setDesiredState, statusesOf } from "./story.ts"

const listed = "203.0.113.9"

/** A project whose endpoint is suspended. */
const asleep = Effect.fnUntraced(function* (person: string) {
  const owner = yield* signedIn(person)
  const made = yield* Projects.use((projects) => projects.create(owner, { name: "shop", region: null }))
  yield* settle
  return { owner, ...made }
})
type Asleep = Effect.Success<ReturnType<typeof asleep>>

const onePlace = {
  ...defaultRunnerSettings,
  classes: { ...defaultRunnerSettings.classes, computes: { ...defaultRunnerSettings.classes.computes, places: 1 } }
}

/** A runner with one place for computes, which has looked once. It looks again only when time passes. */
const runnerIn = Effect.fnUntraced(function* (scope: Scope.Scope) {
  const runner = Layer.buildWithScope(Layer.fresh(OperationRunner.layer), scope)
  yield* Effect.provideService(runner, RunnerPolicy, onePlace)
  for (let n = 0; n < 20; n++) yield* turn
})
const aRunner = Effect.flatMap(Effect.scope, runnerIn)

const wake = ({ endpoint }: Asleep, address = listed) => ProxyRequests.use((it) => it.wake(endpoint.id, address))

const startsOf = Effect.fnUntraced(function* ({ project }: Asleep) {
  const { items } = yield* (yield* OperationStore).list(project.id, {}, { limit: 100, after: null })
  return items.filter(({ action }) => action === "start_compute")
})

const newestStart = (given: Asleep) => Effect.flatMap(startsOf(given), ([newest]) => Effect.fromNullishOr(newest))

/** Runs `what` at each end of each transaction, with the number of the end, from now on. */
const atBoundaries = Effect.fnUntraced(function* (what: (end: number) => Effect.Effect<void>) {
  let ends = 0
  const cross = Effect.suspend(() => what(++ends))
  Object.assign(yield* Boundary, { cross })
})

describe("A wake in the process of a runner", () => {
  it.effect("a start is scheduled, claimed and begun in one transaction, and ended in a second one", () =>
    Effect.gen(function* () {
      const given = yield* asleep("ada")
      yield* aRunner
      const context = yield* Effect.context<OperationStore>()
      const statuses: Array<ReadonlyArray<string>> = []
      const noted = Effect.map(startsOf(given), (starts) => void statuses.push(starts.map(({ status }) => status)))
      yield* atBoundaries(() => Effect.orDie(Effect.provideContext(noted, context)))
      const awake = yield* wake(given)
      assert.deepStrictEqual(awake, { address: "memory.invalid:1", generation: 1, tls: null, own_roles: false })
      assert.deepStrictEqual(statuses, [[], ["running"], ["running"], ["finished"]])
      const { id } = yield* newestStart(given)
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "finished"])
    }).pipe(Effect.scoped, Effect.provide(MortalCore))
  )

  it.effect("an operation that is before it in turn is claimed in its place", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const [ada, bob] = [yield* asleep("ada"), yield* asleep("bob")]
      yield* aRunner
      // Ada was served, and Bob was not.
      yield* wake(ada)
      yield* setDesiredState(ada.project, ada.endpoint, "idle", initiatorOf(ada.owner))
      yield* settle
      yield* setDesiredState(bob.project, bob.endpoint, "active")
      const gate = yield* Deferred.make<void>()
      machines.before = (call) => (call.startsWith(`start ${bob.endpoint.id}`) ? Deferred.await(gate) : Effect.void)
      const waking = yield* Effect.forkChild(wake(ada))
      yield* until(Effect.sync(() => machines.calls.at(-1) === `start ${bob.endpoint.id} 1`))
      assert.strictEqual((yield* newestStart(ada)).lease_owner, null, "the only place is taken")
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(waking)).generation, 2)
      assert.strictEqual((yield* newestStart(bob)).status, "finished")
    }).pipe(Effect.scoped, Effect.provide(MortalCore))
  )

  it.effect("a wake that is refused, and one that finds the compute running, keep no place", () =>
    Effect.gen(function* () {
      const given = yield* asleep("ada")
      yield* (yield* IpAllowlist).add(given.project, { cidr: "203.0.113.0/24" }, given.owner.user.ref)
      yield* aRunner
      for (let n = 0; n < 2; n++) assert.isTrue(Exit.isFailure(yield* Effect.exit(wake(given, "198.51.100.1"))))
      const awake = yield* wake(given)
      assert.deepStrictEqual(yield* wake(given), awake)
      yield* setDesiredState(given.project, given.endpoint, "idle", initiatorOf(given.owner))
      yield* settle
      assert.strictEqual((yield* wake(given)).generation, 2)
    }).pipe(Effect.scoped, Effect.provide(MortalCore))
  )

  it.effect("a start goes on although its wake is interrupted right after the commit", () =>
    Effect.gen(function* () {
      const given = yield* asleep("ada")
      yield* aRunner
      yield* atBoundaries((end) => (end === 2 ? Effect.interrupt : Effect.void))
      const exit = yield* Fiber.await(yield* Effect.forkChild(wake(given)))
      assert.isTrue(Exit.isFailure(exit))
      const { id } = yield* newestStart(given)
      yield* until(Effect.map(operation(id), ({ status }) => status === "finished"))
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "finished"])
      assert.strictEqual((yield* wake(given)).generation, 1)
    }).pipe(Effect.scoped, Effect.provide(MortalCore))
  )

  it.effect("a start is given back where the runner has stopped during the commit", () =>
    Effect.gen(function* () {
      const given = yield* asleep("ada")
      const scope = yield* Scope.make()
      yield* runnerIn(scope)
      const [committed, stopped] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* atBoundaries((end) =>
        end === 2 ? Effect.andThen(Deferred.succeed(committed, undefined), Deferred.await(stopped)) : Effect.void
      )
      const waking = yield* Effect.forkChild(wake(given))
      yield* Deferred.await(committed)
      yield* Scope.close(scope, Exit.void)
      yield* Deferred.succeed(stopped, undefined)
      yield* until(Effect.map(newestStart(given), ({ lease_owner }) => lease_owner === null))
      assert.strictEqual((yield* newestStart(given)).status, "running")
      yield* settle
      assert.strictEqual((yield* Fiber.join(waking)).generation, 1)
    }).pipe(Effect.scoped, Effect.provide(MortalCore))
  )
})

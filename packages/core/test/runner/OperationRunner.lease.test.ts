/** Leases, and outages of the store. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { StorageError } from "../../src/StorageError.ts"
import { Core, Machines, until } from "../memory/core.ts"
import { aTeamsProject, endpointNow, only, operation, readyProject, setDesiredState, statusesOf } from "./story.ts"

const down = new StorageError({ operation: "OperationStore", cause: "outage" })

/** A worker whose store fails in the calls of `failing` for as long as they are in it. */
const workerWith = Effect.fnUntraced(function* (failing: Set<"claim" | "extend" | "lock">) {
  const store = yield* OperationStore
  const unless = <A>(what: "claim" | "extend" | "lock", work: Effect.Effect<A, StorageError>) =>
    Effect.suspend((): Effect.Effect<A, StorageError> => (failing.has(what) ? Effect.fail(down) : work))
  const unreliable = OperationStore.of({
    ...store,
    claim: (claim) => unless("claim", store.claim(claim)),
    extend: (...given) => unless("extend", store.extend(...given)),
    lock: (id) => unless("lock", store.lock(id))
  })
  return Layer.succeed(OperationStore, unreliable)
})

const runner = Layer.fresh(OperationRunner.layerManual)

const runOneOf = <E, R>(worker: Layer.Layer<OperationRunner, E, R>) =>
  Effect.map(Layer.build(worker), (context) => Context.get(context, OperationRunner).runOne)

describe("A worker", () => {
  it.effect("a worker extends its lease for as long as the work lasts", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      machines.before = () => Effect.sleep("2 minutes")
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const { runOne } = yield* OperationRunner
      const working = yield* Effect.forkChild(runOne)
      for (let passed = 0; passed < 115; passed += 5) {
        yield* TestClock.adjust("5 seconds")
        const lease = (yield* operation(id)).lease_until?.epochMilliseconds ?? 0
        assert.isAbove(lease, yield* Clock.currentTimeMillis)
        assert.isFalse(yield* runOne)
      }
      assert.strictEqual((yield* operation(id)).status, "running")
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(working)
      assert.lengthOf(machines.starts, 1)
      assert.strictEqual((yield* endpointNow(endpoint.id)).address, "memory.invalid:1")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a worker continues while the store cannot extend its lease", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const failing = new Set<"claim" | "extend" | "lock">(["extend"])
      const { endpoint, project } = yield* readyProject
      const runOne = yield* runOneOf(Layer.provide(runner, yield* workerWith(failing)))
      machines.before = () => Effect.sleep("25 seconds")
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const working = yield* Effect.forkChild(runOne)
      yield* TestClock.adjust("15 seconds")
      failing.clear()
      yield* TestClock.adjust("15 seconds")
      yield* Fiber.join(working)
      assert.strictEqual((yield* operation(id)).status, "finished")
      assert.strictEqual((yield* endpointNow(endpoint.id)).address, "memory.invalid:1")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("an outage of the store during the work does not count as a failure of the operation", () =>
    Effect.gen(function* () {
      const { operations } = yield* aTeamsProject
      const { id } = only(operations)
      const branches = yield* BranchStore
      let asked = 0
      // `begin` looks first, `perform` second.
      const find: typeof branches.find = (...given) =>
        Effect.suspend(() => (++asked === 2 ? Effect.fail(down) : branches.find(...given)))
      const runOne = yield* runOneOf(Layer.provide(runner, Layer.succeed(BranchStore, { ...branches, find })))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(runOne)))
      assert.deepInclude({ ...(yield* operation(id)) }, { status: "running", failures_count: 0, error: null })
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(yield* runOne)
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "finished"])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("an outage of the store before the work does not count as a failure of the operation", () =>
    Effect.gen(function* () {
      const failing = new Set<"claim" | "extend" | "lock">(["lock"])
      const { endpoint, project } = yield* readyProject
      const runOne = yield* runOneOf(Layer.provide(runner, yield* workerWith(failing)))
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(runOne)))
      assert.deepInclude({ ...(yield* operation(id)) }, { status: "scheduling", failures_count: 0, error: null })
      failing.clear()
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(yield* runOne)
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "finished"])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})

describe("A runner on its own", () => {
  it.effect("the runner continues after an outage of the store", () =>
    Effect.gen(function* () {
      const failing = new Set<"claim" | "extend" | "lock">(["claim"])
      const { operations } = yield* aTeamsProject
      const { id } = only(operations)
      yield* Layer.build(Layer.fresh(OperationRunner.layer).pipe(Layer.provide(yield* workerWith(failing))))
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* operation(id)).status, "scheduling")
      failing.clear()
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* operation(id)).status, "finished")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("the runner performs several operations at once", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const made = [yield* readyProject, yield* readyProject]
      machines.before = () => Effect.never
      for (const { endpoint, project } of made) yield* setDesiredState(project, endpoint, "active")
      yield* Layer.build(Layer.fresh(OperationRunner.layer))
      yield* TestClock.adjust("1 second")
      yield* until(Effect.sync(() => machines.calls.filter((call) => call.startsWith("start")).length === 2))
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a failure of the driver keeps its reason", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { operations } = yield* aTeamsProject
      machines.before = () => Effect.fail(new ComputeFailed({ reason: "no room", retryable: true }))
      yield* Effect.flatMap(OperationRunner, ({ runOne }) => runOne)
      assert.strictEqual((yield* operation(only(operations).id)).error, "no room")
    }).pipe(Effect.provide(Core))
  )
})

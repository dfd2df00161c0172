/** Holds docs/design/operations.md O2. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ComputeDriver, ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { StoredOperation } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { anotherRunner, Core, logged, Machines, settle } from "../memory/core.ts"
import {
  aTeamsProject,
  branchNow,
  endpointNow,
  only,
  operation,
  readyProject,
  runOne,
  setDesiredState,
  statusesOf
} from "./story.ts"

describe("A driver that fails", () => {
  const down = new ComputeFailed({ reason: "the machine is busy", retryable: true })

  it.effect("a driver failure is retried inside running without an event, and leaves no error after success", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      let failures = 3
      machines.before = () => (failures-- > 0 ? Effect.fail(down) : Effect.void)
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      for (const pause of [500, 1000, 2000]) {
        yield* settle
        const trying = yield* operation(id)
        assert.deepInclude({ ...trying }, { status: "running", error: "the machine is busy" })
        yield* TestClock.adjust(pause - 1)
        assert.strictEqual(yield* settle, 0, `${pause} ms are not over`)
        yield* TestClock.adjust(1)
      }
      yield* settle
      assert.deepInclude(
        { ...(yield* operation(id)) },
        { status: "finished", failures_count: 3, error: null, retry_at: null }
      )
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "finished"])
      assert.strictEqual((yield* endpointNow(endpoint.id)).generation, 1)
      assert.deepStrictEqual(
        machines.starts.map(({ generation }) => generation),
        [1, 1, 1, 1]
      )
    }).pipe(Effect.provide(Core))
  )

  it.effect("an operation fails after its last retry, and its endpoint is no longer pending", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      machines.before = () => Effect.fail(down)
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      for (let n = 0; n < 8; n++) {
        yield* settle
        yield* TestClock.adjust("30 seconds")
      }
      assert.deepInclude({ ...(yield* operation(id)) }, { status: "failed", failures_count: 5, error: down.reason })
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "failed"])
      assert.deepInclude(
        { ...(yield* endpointNow(endpoint.id)) },
        { current_state: "idle", pending_state: null, address: null }
      )
    }).pipe(Effect.provide(Core))
  )

  it.effect("an operation ends in error at once when a retry cannot help", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { branch, endpoint, operations, project } = yield* aTeamsProject
      machines.before = () => Effect.fail(new ComputeFailed({ reason: "no binaries", retryable: false }))
      yield* settle
      assert.deepInclude({ ...(yield* operation(only(operations).id)) }, { status: "error", failures_count: 1 })
      assert.deepInclude({ ...(yield* branchNow(project, branch.id)) }, { current_state: "init", pending_state: null })
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "init", pending_state: null })
    }).pipe(Effect.provide(Core))
  )

  it.effect("a defect in the driver fails the operation without showing its cause to callers", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { operations } = yield* aTeamsProject
      machines.before = () => Effect.die(new Error("a bug with the password hunter2"))
      for (let n = 0; n < 8; n++) {
        yield* settle
        yield* TestClock.adjust("30 seconds")
      }
      const failed = yield* operation(only(operations).id)
      assert.strictEqual(failed.status, "failed")
      const events = yield* logged
      assert.isNotEmpty(events)
      for (const text of [failed.error, JSON.stringify(failed), JSON.stringify(events)])
        assert.notMatch(text ?? "", /a bug|hunter2/)
    }).pipe(Effect.provide(Core))
  )
})

describe("A lease", () => {
  it.effect("a lease is extended while the work lasts, so that no other worker claims the operation", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const other = yield* anotherRunner
      const gate = yield* Deferred.make<void>()
      machines.before = () => Deferred.await(gate)
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const held = yield* Effect.forkChild(runOne)
      for (let n = 0; n < 20; n++) {
        yield* TestClock.adjust("15 seconds")
        assert.isFalse(yield* other)
      }
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(held)
      assert.strictEqual(machines.starts.length, 1)
      assert.strictEqual((yield* operation(id)).status, "finished")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a worker that lost its lease records nothing", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const store = yield* OperationStore
      const { endpoint, project } = yield* readyProject
      const gate = yield* Deferred.make<void>()
      machines.before = () => Deferred.await(gate)
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const late = yield* Effect.forkChild(runOne)
      yield* TestClock.adjust(1)
      const row = yield* operation(id)
      yield* store.update(new StoredOperation({ ...row, lease_owner: "another" }))
      const before = yield* endpointNow(endpoint.id)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(late)
      assert.strictEqual((yield* operation(id)).status, "running")
      assert.deepStrictEqual(yield* endpointNow(endpoint.id), before)
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running"])
    }).pipe(Effect.provide(Core))
  )

  it.effect("two workers at once claim an operation once", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const { endpoint, project } = yield* readyProject
      const others = yield* Effect.forEach(Array.from({ length: 10 }), () => anotherRunner)
      yield* setDesiredState(project, endpoint, "active")
      const worked = yield* Effect.all(others, { concurrency: "unbounded" })
      assert.strictEqual(worked.filter(Boolean).length, 1)
      assert.strictEqual((yield* driver.running).length, 1)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})

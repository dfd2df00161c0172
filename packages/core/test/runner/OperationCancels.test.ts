import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import type { OperationAction } from "../../src/records/operations/Operation.ts"
import { OperationCancels } from "../../src/runner/OperationCancels.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { anotherRunner, Core, Machines, settle, until } from "../memory/core.ts"
import {
  aTeamsProject,
  branchNow,
  endpointNow,
  onBranch,
  only,
  operation,
  readyChild,
  readyProject,
  runOne,
  scheduled,
  setDesiredState,
  statusesOf
} from "./story.ts"

const cancel = ({ id }: { readonly id: Parameters<typeof operation>[0] }) =>
  Effect.flatMap(OperationCancels, (cancels) => cancels.cancel({ id }))

/** A start that the driver never ends, performed by a worker of this fiber. */
const hangingStart = Effect.gen(function* () {
  const machines = yield* Machines
  const { endpoint, project } = yield* readyProject
  machines.before = (call) => (call.startsWith("start") ? Effect.never : Effect.void)
  const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
  const working = yield* Effect.forkChild(runOne)
  yield* until(Effect.sync(() => machines.calls.some((call) => call.startsWith("start"))))
  return { endpoint, machines, project, start, working }
})

describe("Cancelling an operation", () => {
  it.effect("an operation that has not started is cancelled at once, and nothing is left pending", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const calls = machines.calls.length
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      assert.strictEqual((yield* cancel(start)).status, "cancelled")
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "idle", pending_state: null })
      assert.strictEqual(yield* settle, 0)
      assert.strictEqual(machines.calls.length, calls)
      assert.deepStrictEqual(yield* statusesOf(start.id), ["scheduling", "cancelled"])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a branch whose creation is cancelled stays in init, and a reset that is cancelled leaves it ready", () =>
    Effect.gen(function* () {
      const first = yield* aTeamsProject
      yield* cancel(only(first.operations))
      assert.deepInclude(
        { ...(yield* branchNow(first.project, first.branch.id)) },
        { current_state: "init", pending_state: null }
      )
      const { ada, project } = yield* readyProject
      const { branch } = yield* readyChild(ada, project)
      const reset = yield* (yield* Branches).reset(ada, onBranch, branch)
      yield* cancel(only(reset.operations))
      assert.deepInclude({ ...(yield* branchNow(project, branch.id)) }, { current_state: "ready", pending_state: null })
    }).pipe(Effect.provide(Core))
  )

  it.effect("the next operation of the branch runs once an operation before it is cancelled", () =>
    Effect.gen(function* () {
      const { endpoint, project } = yield* readyProject
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const suspend = only((yield* setDesiredState(project, endpoint, "idle")).operations)
      yield* cancel(start)
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(suspend.id), ["scheduling", "skipped"])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a running operation is interrupted in the driver, followed by a stop, and then cancelled", () =>
    Effect.gen(function* () {
      const { endpoint, machines, start, working } = yield* hangingStart
      assert.strictEqual((yield* cancel(start)).status, "cancelling")
      yield* Effect.flatMap(OperationRunner, ({ look }) => look(start.id))
      yield* until(Effect.sync(() => working.pollUnsafe() !== undefined))
      assert.deepStrictEqual(yield* statusesOf(start.id), ["scheduling", "running", "cancelling", "cancelled"])
      assert.strictEqual(machines.calls.at(-1), `stop ${endpoint.id}`)
      assert.deepInclude({ ...(yield* endpointNow(endpoint.id)) }, { current_state: "idle", pending_state: null })
    }).pipe(Effect.provide(Core))
  )

  it.effect("a runner that missed the announcement learns of it when it extends its lease", () =>
    Effect.gen(function* () {
      const { start, working } = yield* hangingStart
      yield* cancel(start)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(working)
      assert.strictEqual((yield* operation(start.id)).status, "cancelled")
    }).pipe(Effect.provide(Core))
  )

  it.effect("an operation that waits for its retry is cancelled by the next claim", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      machines.before = (call) =>
        call.startsWith("start") ? Effect.fail(new ComputeFailed({ reason: "no", retryable: true })) : Effect.void
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      yield* settle
      assert.strictEqual((yield* cancel(start)).status, "cancelling")
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(start.id), ["scheduling", "running", "cancelling", "cancelled"])
      assert.strictEqual(machines.starts.length, 1)
    }).pipe(Effect.provide(Core))
  )

  it.effect("an operation whose worker died is cancelled by another worker once the lease has expired", () =>
    Effect.gen(function* () {
      const { start, working } = yield* hangingStart
      yield* Fiber.interrupt(working)
      const other = yield* anotherRunner
      yield* cancel(start)
      assert.isFalse(yield* other, "the lease still holds")
      yield* TestClock.adjust("31 seconds")
      assert.isTrue(yield* other)
      assert.strictEqual((yield* operation(start.id)).status, "cancelled")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("an operation that finishes before its call is interrupted stays finished", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const cancels = yield* OperationCancels
      machines.after = () => Effect.orDie(Effect.asVoid(cancels.cancel(start)))
      yield* runOne
      assert.deepStrictEqual(yield* statusesOf(start.id), ["scheduling", "running", "cancelling", "finished"])
      assert.strictEqual((yield* endpointNow(endpoint.id)).current_state, "active")
    }).pipe(Effect.provide(Core))
  )

  it.effect("cancelling twice changes nothing, and what has ended cannot be cancelled", () =>
    Effect.gen(function* () {
      const { operations, project, endpoint } = yield* readyProject
      const ended = yield* Effect.flip(cancel(only(operations)))
      assert.strictEqual(ended.message, "The operation has ended: it is finished.")
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const once = yield* cancel(start)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* cancel(start), once)
    }).pipe(Effect.provide(Core))
  )

  it.effect("deletions and changes of roles are not cancelled", () =>
    Effect.gen(function* () {
      const given = yield* readyProject
      const promises: ReadonlyArray<OperationAction> = ["apply_config", "delete_timeline", "delete_compute"]
      for (const action of promises) {
        const made = yield* scheduled(given, action)
        const refused = yield* Effect.flip(cancel(made))
        assert.match(refused.message, /cannot be cancelled/)
        assert.strictEqual((yield* operation(made.id)).status, "scheduling")
      }
    }).pipe(Effect.provide(Core))
  )
})

/** Calls of the driver that hang, and what the log says of failures. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Logger, Option, References } from "effect"
import { TestClock } from "effect/testing"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { ComputeFence } from "../../src/records/computes/ComputeFence.ts"
import { ComputeTenant, TenantDisk } from "../../src/records/computes/ComputeTenant.ts"
import type { StoredOperation } from "../../src/records/operations/Operation.ts"
import { classOf } from "../../src/records/operations/OperationClass.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import { makePerformer } from "../../src/runner/makePerformer.ts"
import { defaultRunnerSettings } from "../../src/runner/RunnerPolicy.ts"
import { anotherRunner, Core, Machines, settle } from "../memory/core.ts"
import {
  endpointNow,
  hangs,
  only,
  operation,
  passing,
  readyProject,
  runOne,
  scheduled,
  setDesiredState,
  statusesOf
} from "./story.ts"

describe("A call of the driver that hangs", () => {
  it.effect("a call that neither ends nor can be interrupted is abandoned at its deadline and tried again", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      machines.before = () => hangs
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const working = yield* Effect.forkChild(runOne)
      yield* TestClock.adjust(Duration.subtract(defaultRunnerSettings.classes.computes.deadline, Duration.seconds(1)))
      assert.isUndefined(working.pollUnsafe(), "the deadline is not over")
      yield* passing(working, "1 second")
      const late = yield* operation(id)
      assert.deepInclude({ ...late }, { status: "running", failures_count: 1, lease_until: null })
      assert.match(late.error ?? "", /took too long/)
      machines.before = () => Effect.void
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(id), ["scheduling", "running", "finished"])
      assert.strictEqual((yield* endpointNow(endpoint.id)).current_state, "active")
    }).pipe(Effect.provide(Core))
  )

  it.effect("each class of actions has a deadline", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* readyProject
      machines.before = () => hangs
      for (const action of ["apply_config", "delete_timeline"] as const) {
        const made = yield* scheduled(given, action)
        const working = yield* Effect.forkChild(runOne)
        const { deadline } = defaultRunnerSettings.classes[classOf(action)]
        yield* TestClock.adjust(Duration.subtract(deadline, Duration.seconds(1)))
        assert.strictEqual((yield* operation(made.id)).failures_count, 0)
        yield* passing(working, "1 second")
        assert.strictEqual((yield* operation(made.id)).failures_count, 1)
        yield* (yield* OperationStore).update(yield* finishedOf(made))
      }
    }).pipe(Effect.provide(Core))
  )

  it.effect("a worker that lost its lease is free although its call cannot be interrupted", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const store = yield* OperationStore
      const { endpoint, project } = yield* readyProject
      machines.before = () => hangs
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const working = yield* Effect.forkChild(runOne)
      yield* TestClock.adjust(1)
      const row = yield* operation(id)
      yield* store.release(id, { worker: row.lease_owner ?? "", fence: row.fence })
      yield* passing(working, "5 seconds")
      assert.strictEqual((yield* operation(id)).failures_count, 0)
    }).pipe(Effect.provide(Core))
  )

  it.effect("the late end of an abandoned call changes nothing, also when the same worker tries again", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const gate = yield* Deferred.make<void>()
      machines.before = () => Effect.uninterruptible(Deferred.await(gate))
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      yield* passing(yield* Effect.forkChild(runOne), "1 minute")
      machines.before = () => Effect.never
      yield* TestClock.adjust("1 second")
      const again = yield* Effect.forkChild(runOne)
      yield* TestClock.adjust(1)
      const before = yield* operation(id)
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* operation(id), before)
      assert.strictEqual((yield* endpointNow(endpoint.id)).current_state, "idle")
      yield* Fiber.interrupt(again)
    }).pipe(Effect.provide(Core))
  )

  it.effect("an operation that the same worker has claimed again is performed under the later claim only", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const { claim, giveBack, perform } = yield* makePerformer
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const calls = machines.calls.length
      const earlier = Option.getOrThrow(yield* claim("computes"))
      yield* giveBack(earlier)
      const later = Option.getOrThrow(yield* claim("computes"))
      assert.deepEqual([earlier.id, later.id], [id, id])
      yield* perform(earlier)
      assert.lengthOf(machines.calls, calls, "the driver was not called")
      assert.strictEqual((yield* operation(id)).status, "scheduling")
      yield* perform(later)
      assert.strictEqual((yield* operation(id)).status, "finished")
    }).pipe(Effect.provide(Core))
  )

  it.effect("each claim calls the driver with a higher fence, on every worker", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const fences: Array<number | null> = []
      machines.before = () =>
        Effect.flatMap(ComputeFence, (fence) => {
          fences.push(fence)
          return fences.length < 4 ? new ComputeFailed({ reason: "no", retryable: true }) : Effect.void
        })
      const other = yield* anotherRunner
      yield* setDesiredState(project, endpoint, "active")
      for (const worker of [runOne, other, runOne, other]) {
        yield* worker
        yield* TestClock.adjust("5 seconds")
      }
      const numbers = fences.map((fence) => fence ?? 0)
      assert.lengthOf(numbers, 4)
      assert.isTrue(
        numbers.every((fence, n) => fence > (numbers[n - 1] ?? 0)),
        String(numbers)
      )
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a driver can ask for the organization of the operation", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const asked: Array<string | null> = []
      machines.before = () => Effect.map(ComputeTenant, (org) => void asked.push(org))
      yield* setDesiredState(project, endpoint, "active")
      yield* runOne
      assert.deepStrictEqual(asked, [project.org_id])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a driver can ask for the disk that this organization takes", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { branch, endpoint, project } = yield* readyProject
      yield* (yield* QuotaStore).expectBytes(project.org_id, branch.id, 4_096)
      const asked: Array<number | null> = []
      machines.before = () =>
        Effect.gen(function* () {
          const disk = yield* TenantDisk
          asked.push(disk === null ? null : yield* Effect.orDie(disk))
        })
      yield* setDesiredState(project, endpoint, "active")
      yield* runOne
      assert.deepStrictEqual(asked, [4_096])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a start that is abandoned for good stops what it may have started", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      machines.before = (call) => (call.startsWith("start") ? hangs : Effect.void)
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      for (let n = 0; n <= defaultRunnerSettings.retries; n++) {
        yield* passing(yield* Effect.forkChild(runOne), "1 minute")
        yield* TestClock.adjust("30 seconds")
      }
      assert.strictEqual((yield* operation(id)).status, "failed")
      assert.strictEqual(machines.calls.at(-1), `stop ${endpoint.id}`)
    }).pipe(Effect.provide(Core))
  )
})

const finishedOf = Effect.fnUntraced(function* ({ id }: StoredOperation) {
  const row = yield* operation(id)
  return { ...row, status: "finished", view: row.view } as const
})

describe("The operator's log", () => {
  it.effect("a failed try is one line with the operation, its place and what the machine said", () =>
    Effect.gen(function* () {
      const lines: Array<{ readonly message: unknown; readonly notes: Record<string, unknown> }> = []
      const capture = Logger.make(({ fiber, message }) => {
        lines.push({ message, notes: { ...fiber.getRef(References.CurrentLogAnnotations) } })
      })
      const machines = yield* Machines
      const { endpoint, project } = yield* readyProject
      const failure = { reason: "The branch could not be started.", detail: "FATAL: /srv/computes/br-1 is full" }
      machines.before = () => Effect.fail(new ComputeFailed({ ...failure, retryable: true }))
      const { id } = only((yield* setDesiredState(project, endpoint, "active")).operations)
      yield* Effect.provide(runOne, Logger.layer([capture]))
      assert.lengthOf(lines, 1)
      assert.deepInclude(lines[0]?.notes, {
        operation_id: id,
        org_id: project.org_id,
        project_id: project.id,
        detail: failure.detail
      })
      assert.include(String(lines[0]?.message), `start_compute failed: ${failure.reason}`)
      assert.strictEqual((yield* operation(id)).error, failure.reason)
    }).pipe(Effect.provide(Core))
  )
})

/** The polling loop of `OperationRunner.layer`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { BranchId, type OperationId } from "../../src/Ids.ts"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { EventFeed } from "../../src/records/events/EventFeed.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { defaultRunnerSettings, RunnerPolicy } from "../../src/runner/RunnerPolicy.ts"
import { bySystem, Operations } from "../../src/services/operations/Operations.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Transaction } from "../../src/Transaction.ts"
import { anOperation, aProjectId } from "../../testing/records.ts"
import { Core, Machines, signedIn, turn, until } from "../memory/core.ts"
import { only, readyProject, setDesiredState } from "./story.ts"

const newProject = Effect.gen(function* () {
  const projects = yield* Projects
  const { operations } = yield* projects.create(yield* signedIn("ada"), { name: "shop", region: null })
  const [operation] = operations
  if (operation === undefined) throw new Error("no operation")
  return operation.id
})

const statusOf = Effect.fnUntraced(function* (id: OperationId) {
  return Option.getOrThrow(yield* (yield* OperationStore).find(id)).status
})

describe("The runner", () => {
  it.effect("the runner finds due operations by polling, and retries them when they are due again", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      yield* Layer.build(OperationRunner.layer)
      let failures = 1
      machines.before = () =>
        failures-- > 0 ? Effect.fail(new ComputeFailed({ reason: "busy", retryable: true })) : Effect.void
      const status = statusOf(yield* newProject)
      assert.strictEqual(yield* status, "scheduling")
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* status, "running")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* status, "finished")
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a nudge makes the runner look at once", () =>
    Effect.gen(function* () {
      const runner = yield* Layer.build(OperationRunner.layer)
      yield* TestClock.adjust(1)
      const status = statusOf(yield* newProject)
      yield* Effect.provide(
        Effect.flatMap(OperationRunner, ({ nudge }) => nudge),
        runner
      )
      yield* until(Effect.map(status, (it) => it === "finished"))
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a hint at a due operation makes the runner of the process look at once", () =>
    Effect.gen(function* () {
      yield* Layer.build(OperationRunner.layerNudged)
      yield* TestClock.adjust(1)
      const { hint } = yield* Operations
      // Stored without an event, so the log announces nothing.
      const operation = anOperation(aProjectId(), null, { action: "delete_timeline" })
      yield* (yield* OperationStore).insert(operation)
      yield* hint(operation)
      yield* until(Effect.map(statusOf(operation.id), (it) => it === "finished"))
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("an event of an operation makes the runner look for its class, and for all when it has ended", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const { ready, refresh } = yield* EventFeed
      const { move, schedule } = yield* Operations
      const { run } = yield* Transaction
      const looked: Array<string> = []
      // Nothing is ever due, so the operation is moved by the test alone.
      const claim: typeof store.claim = (wanted) =>
        Effect.as(
          Effect.sync(() => looked.push(wanted.class)),
          Option.none()
        )
      const counting = Layer.succeed(OperationStore, { ...store, claim })
      yield* Layer.build(Layer.provide(Layer.fresh(OperationRunner.layerNudged), counting))
      yield* ready
      const classes = Effect.gen(function* () {
        yield* refresh
        for (let n = 0; n < 20; n++) yield* turn
        return looked.splice(0).toSorted()
      })
      yield* classes
      const { project } = yield* Projects.use((projects) =>
        Effect.flatMap(signedIn("ada"), (ada) => projects.create(ada, { name: "shop", region: null }))
      )
      assert.deepStrictEqual(yield* classes, ["branches"])
      const work = { project, branch_id: null, endpoint_id: null, initiator: bySystem }
      const scheduled = yield* run(schedule({ ...work, action: "start_compute" }))
      assert.deepStrictEqual(yield* classes, ["computes"])
      const running = yield* run(move(scheduled, "running"))
      assert.deepStrictEqual(yield* classes, [])
      yield* run(move(running, "finished"))
      assert.deepStrictEqual(yield* classes, ["branches", "computes", "deletions", "roles"])
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("the runner gives its operations back when its scope closes, and another runner goes on at once", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(OperationRunner.layer, scope)
      machines.before = () => Effect.never
      const id = yield* newProject
      yield* TestClock.adjust("500 millis")
      assert.strictEqual(yield* statusOf(id), "running")
      yield* Scope.close(scope, Exit.void)
      const given = Option.getOrThrow(yield* (yield* OperationStore).find(id))
      assert.deepInclude({ ...given }, { status: "running", lease_owner: null, lease_until: null })
      machines.before = () => Effect.void
      yield* Layer.build(Layer.fresh(OperationRunner.layer))
      yield* TestClock.adjust("1 millis")
      yield* until(Effect.map(statusOf(id), (it) => it === "finished"))
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("the runner's scope closes although a call of the driver cannot be interrupted", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(OperationRunner.layer, scope)
      machines.before = () => Effect.uninterruptible(Effect.never)
      const id = yield* newProject
      yield* TestClock.adjust("500 millis")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* until(Effect.map(TestClock.adjust("1 second"), () => closing.pollUnsafe() !== undefined))
      assert.isNull(Option.getOrThrow(yield* (yield* OperationStore).find(id)).lease_owner)
    }).pipe(Effect.scoped, Effect.provide(Core))
  )

  it.effect("a runner whose places of one class are taken still performs operations of the others", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* readyProject
      const { run } = yield* Transaction
      const { schedule } = yield* Operations
      const policy = { ...defaultRunnerSettings, classes: { ...defaultRunnerSettings.classes } }
      policy.classes.roles = { ...policy.classes.roles, places: 2 }
      yield* Effect.provideService(Layer.build(Layer.fresh(OperationRunner.layer)), RunnerPolicy, policy)
      machines.before = (call) => (call.startsWith("applyRoles") ? Effect.never : Effect.void)
      // Roles of branches on which nothing else happens.
      const stuck = Array.from({ length: 4 }, (_, n) => BranchId.make(`br-stuck-${n}`))
      for (const branch_id of stuck)
        yield* run(schedule({ ...given, branch_id, endpoint_id: null, action: "apply_config", initiator: bySystem }))
      yield* until(
        Effect.andThen(
          TestClock.adjust("500 millis"),
          Effect.sync(() => machines.calls.filter((call) => call.startsWith("applyRoles")).length === 2)
        )
      )
      const start = only((yield* setDesiredState(given.project, given.endpoint, "active")).operations)
      yield* until(
        Effect.andThen(
          TestClock.adjust("500 millis"),
          Effect.map(statusOf(start.id), (it) => it === "finished")
        )
      )
    }).pipe(Effect.scoped, Effect.provide(Core))
  )
})

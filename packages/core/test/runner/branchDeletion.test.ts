/** Deletion of branches, and operations that apply roles (docs/design/operations.md O21). */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, References } from "effect"
import { ComputeFailed } from "../../src/records/computes/ComputeDriver.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Core, Machines, settle, until } from "../memory/core.ts"
import { onBranch, only, readyChild, readyProject, runOne, scheduled, setDesiredState, statusesOf } from "./story.ts"

describe("The deletion of a branch whose roles cannot be applied", () => {
  const refused = new ComputeFailed({ reason: "too many clients", retryable: true })

  for (const failure of [refused, new ComputeFailed({ ...refused, busy: true })])
    it.effect(`a deletion ends what has begun at its next try, and cancels what has not (busy: ${failure.busy})`, () =>
      Effect.gen(function* () {
        const machines = yield* Machines
        const { ada, project } = yield* readyProject
        const { branch } = yield* readyChild(ada, project)
        machines.before = (call) => (call.startsWith("applyRoles") ? Effect.fail(failure) : Effect.void)
        const begun = yield* scheduled({ branch, project }, "apply_config")
        const waiting = yield* scheduled({ branch, project }, "apply_config")
        yield* settle
        const deletion = only(yield* (yield* Branches).remove(ada, onBranch, branch))
        assert.deepStrictEqual(yield* statusesOf(waiting.id), ["scheduling", "cancelled"])
        // No time passes: the try that waited for its back-off is due.
        yield* settle
        assert.deepStrictEqual(yield* statusesOf(begun.id), ["scheduling", "running", "failed"])
        assert.deepStrictEqual(yield* statusesOf(deletion.id), ["scheduling", "running", "finished"])
        assert.strictEqual(machines.calls.filter((call) => call.startsWith("applyRoles")).length, 2)
        assert.strictEqual(machines.calls.at(-1), `deleteBranch ${branch.id}`)
      }).pipe(Effect.provide(Core), Effect.provideService(References.MinimumLogLevel, "None"))
    )

  it.effect("a deletion waits for a call that applies roles, and runs after it", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { ada, project } = yield* readyProject
      const { branch } = yield* readyChild(ada, project)
      const gate = yield* Deferred.make<void>()
      machines.before = (call) => (call.startsWith("applyRoles") ? Deferred.await(gate) : Effect.void)
      const applying = yield* scheduled({ branch, project }, "apply_config")
      const working = yield* Effect.forkChild(runOne)
      yield* until(Effect.sync(() => machines.calls.some((call) => call.startsWith("applyRoles"))))
      const deletion = only(yield* (yield* Branches).remove(ada, onBranch, branch))
      assert.isFalse(yield* runOne, "nothing is due while the call runs")
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(working)
      yield* settle
      assert.deepStrictEqual(yield* statusesOf(applying.id), ["scheduling", "running", "finished"])
      assert.deepStrictEqual(yield* statusesOf(deletion.id), ["scheduling", "running", "finished"])
    }).pipe(Effect.provide(Core))
  )

  it.effect("a start that has not ended still refuses a deletion, behind roles that cannot be applied too", () =>
    Effect.gen(function* () {
      const { ada, project } = yield* readyProject
      const { branch, endpoint } = yield* readyChild(ada, project)
      yield* scheduled({ branch, project }, "apply_config")
      const start = only((yield* setDesiredState(project, endpoint, "active")).operations)
      const busy = yield* Effect.flip((yield* Branches).remove(ada, onBranch, branch))
      assert.deepInclude({ ...busy }, { _tag: "ResourceBusy", blocking_operation_id: start.id })
    }).pipe(Effect.provide(Core))
  )
})

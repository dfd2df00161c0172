import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { BranchId, EndpointId } from "../../src/Ids.ts"
import { type OperationAction, StoredOperation } from "../../src/records/operations/Operation.ts"
import { desiredState } from "../../src/rules/operations/desiredState.ts"
import { bySystem, Operations } from "../../src/services/operations/Operations.ts"
import { Transaction } from "../../src/Transaction.ts"
import { anOperation, aProject, aProjectId } from "../../testing/records.ts"
import { Core, logged } from "../memory/core.ts"

const project = aProject()
const branch_id = BranchId.make("br-1")
const endpoint_id = EndpointId.make("ep-1")

describe("An operation that moves", () => {
  it.effect("an operation records its start and its end once each", () =>
    Effect.gen(function* () {
      const operations = yield* Operations
      const { run } = yield* Transaction
      const work = { project, branch_id, endpoint_id, action: "start_compute", initiator: bySystem } as const
      const scheduled = yield* run(operations.schedule(work))
      yield* TestClock.adjust("1 second")
      const begun = yield* DateTime.now
      const running = yield* run(operations.move(scheduled, "running"))
      assert.deepInclude({ ...running }, { started_at: begun, finished_at: null })
      yield* TestClock.adjust("1 second")
      const held = new StoredOperation({ ...running, lease_owner: "w", lease_until: begun, retry_at: begun })
      const finished = yield* run(operations.move(held, "finished"))
      const ended = { started_at: begun, finished_at: yield* DateTime.now, updated_at: yield* DateTime.now }
      assert.deepInclude({ ...finished }, { ...ended, lease_owner: null, lease_until: null, retry_at: null })
    }).pipe(Effect.provide(Core))
  )

  it.effect("a move of an operation emits an event of its project", () =>
    Effect.gen(function* () {
      const operations = yield* Operations
      const { run } = yield* Transaction
      const work = { project, branch_id, endpoint_id, action: "create_branch", initiator: bySystem } as const
      yield* run(Effect.flatMap(operations.schedule(work), (it) => operations.move(it, "running")))
      const told = (yield* logged).filter(({ type }) => type === "operation.updated.v1")
      assert.deepStrictEqual(
        told.map(({ data, internal, project_id }) => [data["status"], internal, project_id]),
        [
          ["scheduling", false, project.id],
          ["running", false, project.id]
        ]
      )
    }).pipe(Effect.provide(Core))
  )

  it("the view of an operation leaves out its organization, its region and its lease", () => {
    const stored = anOperation(aProjectId(), branch_id, { error: "the machine is busy" })
    const kept = ["busy_since", "copies", "fence", "lease_owner", "lease_until", "org_id", "region_id"]
    const shown = Object.entries(stored).filter(([member]) => !kept.includes(member))
    assert.deepStrictEqual(Object.entries(stored.view), shown)
  })
})

describe("desiredState", () => {
  const unfinished = (...actions: ReadonlyArray<readonly [OperationAction, string | null]>) =>
    actions.map(([action, id]) =>
      anOperation(project.id, branch_id, { action, endpoint_id: id === null ? null : EndpointId.make(id) })
    )
  const state = (current_state: "active" | "idle", operations: ReadonlyArray<StoredOperation>) =>
    desiredState({ id: endpoint_id, current_state }, operations).state

  it("the newest start or suspend determines an endpoint's desired state", () => {
    const both = unfinished(["start_compute", "ep-1"], ["suspend_compute", "ep-1"], ["apply_config", "ep-1"])
    assert.deepStrictEqual(desiredState({ id: endpoint_id, current_state: "active" }, both), {
      state: "idle",
      by: Option.fromUndefinedOr(both[1])
    })
    assert.strictEqual(state("idle", unfinished(["suspend_compute", "ep-1"], ["start_compute", "ep-1"])), "active")
  })

  it("an endpoint's desired state does not depend on other endpoints of its branch", () => {
    assert.strictEqual(state("idle", unfinished(["start_compute", "ep-2"])), "idle")
    assert.strictEqual(state("active", unfinished(["suspend_compute", "ep-2"])), "active")
  })

  it("a reset of the branch makes its endpoint's desired state idle", () => {
    assert.strictEqual(state("active", unfinished(["reset_branch", null])), "idle")
    assert.strictEqual(state("active", unfinished(["reset_branch", null], ["start_compute", "ep-1"])), "active")
  })
})

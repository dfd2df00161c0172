import { assert, describe, it } from "@effect/vitest"
import { Duration, Option } from "effect"
import { isFinal, mayMove, OperationStatus } from "../../src/operations/Operation.ts"
import { retryPause } from "../../src/runner/OperationRunner.ts"
import { desiredState } from "../../src/operations/desiredState.ts"
import { aBranchId, anEndpoint, anOperation, aProjectId } from "../../testing/records.ts"

const statuses = OperationStatus.literals

describe("The states of an operation", () => {
  const legal = [
    "scheduling>running",
    "scheduling>skipped",
    "scheduling>cancelled",
    "running>finished",
    "running>failed",
    "running>error",
    "running>cancelling",
    "cancelling>cancelled",
    "cancelling>finished",
    "cancelling>failed",
    "cancelling>error"
  ]
  it("move in these ways and no other", () => {
    const found = statuses.flatMap((from) => statuses.filter((to) => mayMove(from, to)).map((to) => `${from}>${to}`))
    assert.sameMembers(found, legal)
  })

  it("are final where nothing follows", () => {
    assert.sameMembers(statuses.filter(isFinal), ["finished", "failed", "error", "cancelled", "skipped"])
  })
})

describe("retryPause", () => {
  it("doubles from half a second and stops at half a minute", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 50].map((failures) => Duration.toMillis(retryPause(failures)))
    assert.deepStrictEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  })
})

describe("desiredState", () => {
  const branch = aBranchId()
  const endpoint = anEndpoint(aProjectId(), branch)
  const work = (action: "start_compute" | "suspend_compute" | "reset_branch" | "apply_config", of = endpoint) =>
    anOperation(endpoint.project_id, branch, { action, endpoint_id: action === "reset_branch" ? null : of.id })
  const active = { ...endpoint, current_state: "active" as const }

  it("stays where it is while nothing is under way", () => {
    assert.deepStrictEqual(desiredState(endpoint, []), { state: "idle", by: Option.none() })
    assert.deepStrictEqual(desiredState(active, [work("apply_config")]), { state: "active", by: Option.none() })
    assert.strictEqual(desiredState({ ...endpoint, current_state: "init" }, []).state, "idle")
  })

  it("goes where the newest start or suspend sends it", () => {
    const [start, suspend] = [work("start_compute"), work("suspend_compute")]
    assert.deepStrictEqual(desiredState(active, [start, suspend]), { state: "idle", by: Option.some(suspend) })
    assert.deepStrictEqual(desiredState(active, [suspend, start]), { state: "active", by: Option.some(start) })
  })

  it("does not mind what other endpoints of the branch do", () => {
    const other = anEndpoint(endpoint.project_id, branch)
    assert.strictEqual(desiredState(active, [work("suspend_compute", other)]).state, "active")
  })

  it("is stopped by a reset of the branch, and started by a start after it", () => {
    const [reset, start] = [work("reset_branch"), work("start_compute")]
    assert.deepStrictEqual(desiredState(active, [reset]), { state: "idle", by: Option.some(reset) })
    assert.deepStrictEqual(desiredState(active, [reset, start]), { state: "active", by: Option.some(start) })
  })
})

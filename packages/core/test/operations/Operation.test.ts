import { assert, describe, it } from "@effect/vitest"
import { Duration, Option } from "effect"
import { isFinal, mayMove, OperationStatus } from "../../src/records/operations/Operation.ts"
import { desiredState } from "../../src/rules/operations/desiredState.ts"
import { retryPause } from "../../src/runner/afterFailure.ts"
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
  it("an operation may move along these transitions and no others", () => {
    const found = statuses.flatMap((from) => statuses.filter((to) => mayMove(from, to)).map((to) => `${from}>${to}`))
    assert.sameMembers(found, legal)
  })

  it("a status without a transition is final", () => {
    assert.sameMembers(statuses.filter(isFinal), ["finished", "failed", "error", "cancelled", "skipped"])
  })
})

describe("retryPause", () => {
  it("the back-off doubles from half a second up to half a minute", () => {
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

  it("the desired state is the current one while no start, suspend or reset is unfinished", () => {
    assert.deepStrictEqual(desiredState(endpoint, []), { state: "idle", by: Option.none() })
    assert.deepStrictEqual(desiredState(active, [work("apply_config")]), { state: "active", by: Option.none() })
    assert.strictEqual(desiredState({ ...endpoint, current_state: "init" }, []).state, "idle")
  })

  it("the newest unfinished start or suspend determines the desired state", () => {
    const [start, suspend] = [work("start_compute"), work("suspend_compute")]
    assert.deepStrictEqual(desiredState(active, [start, suspend]), { state: "idle", by: Option.some(suspend) })
    assert.deepStrictEqual(desiredState(active, [suspend, start]), { state: "active", by: Option.some(start) })
  })

  it("operations of other endpoints do not change the desired state", () => {
    const other = anEndpoint(endpoint.project_id, branch)
    assert.strictEqual(desiredState(active, [work("suspend_compute", other)]).state, "active")
  })

  it("a reset of the branch makes the desired state idle, and a start after it active", () => {
    const [reset, start] = [work("reset_branch"), work("start_compute")]
    assert.deepStrictEqual(desiredState(active, [reset]), { state: "idle", by: Option.some(reset) })
    assert.deepStrictEqual(desiredState(active, [reset, start]), { state: "active", by: Option.some(start) })
  })
})

/** Which operations a list has, and how the branch of a key limits what a filter names. */
import { assert, describe, it } from "@effect/vitest"
import { BranchId, EndpointId } from "../../src/Ids.ts"
import { type OperationFilter, withinScope } from "../../src/records/operations/OperationFilter.ts"

const [own, other] = [BranchId.make("br-own"), BranchId.make("br-other")]

describe("the filter of a list of operations", () => {
  it("a caller without a branch gets the filter as it is", () => {
    const filter: OperationFilter = {
      status: "failed",
      action: "start_compute",
      branch_id: other,
      endpoint_id: EndpointId.make("ep")
    }
    assert.deepStrictEqual(withinScope({}, null), {})
    assert.deepStrictEqual(withinScope(filter, null), filter)
  })

  it("a caller of one branch gets that branch, and nothing fits a filter by another one", () => {
    assert.deepStrictEqual(withinScope({}, own), { branch_id: own })
    assert.deepStrictEqual(withinScope({ status: "failed" }, own), { status: "failed", branch_id: own })
    assert.deepStrictEqual(withinScope({ branch_id: own }, own), { branch_id: own })
    assert.isNull(withinScope({ branch_id: other }, own))
  })

  it("an id that storage cannot hold becomes one that no operation has", () => {
    const impossible = { branch_id: BranchId.make("\u0000"), endpoint_id: EndpointId.make("\ud800") }
    const none = { branch_id: BranchId.make("-"), endpoint_id: EndpointId.make("-") }
    assert.deepStrictEqual(withinScope(impossible, null), none)
  })
})

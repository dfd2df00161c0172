import { assert, describe, it } from "@effect/vitest"
import { type BranchState, viewBranch } from "../../src/records/projects/Branch.ts"
import { aBranch, aProjectId, at } from "../../testing/records.ts"

describe("a branch as the API shows it", () => {
  const shown = (current_state: BranchState) => {
    const branch = aBranch(aProjectId(), { current_state })
    const size = {
      branch_id: branch.id,
      size_bytes: 7,
      size_measured_at: at(1),
      read_only_reason: "disk_quota"
    } as const
    const view = viewBranch(branch, new Map([[branch.id, size]]))
    assert.strictEqual(view.read_only_reason, "disk_quota")
    return [view.size_bytes, view.size_measured_at]
  }

  it("a branch has the size that was measured, unless its data is being made or replaced", () => {
    assert.deepStrictEqual(shown("ready"), [7, at(1)])
    assert.deepStrictEqual(shown("archived"), [7, at(1)])
    assert.deepStrictEqual(shown("init"), [null, null])
    assert.deepStrictEqual(shown("resetting"), [null, null])
  })

  it("a branch of which no size is known has none, and whether an agent made it is not shown", () => {
    const branch = aBranch(aProjectId(), { current_state: "ready" })
    const view = viewBranch(branch)
    assert.deepStrictEqual([view.id, view.size_bytes, view.size_measured_at], [branch.id, null, null])
    assert.isNull(view.read_only_reason)
    assert.notProperty(view, "made_by_agent")
    assert.notProperty(view, "made_by_key_id")
  })
})

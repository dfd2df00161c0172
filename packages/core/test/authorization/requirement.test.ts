import { assert, describe, it } from "@effect/vitest"
import { knownRoles, Permission, permissionsOf, requirement } from "../../src/index.ts"

describe("the policy of a host's endpoint", () => {
  it("an object is reached by the scopes that contain it, and the organization by keys of the organization alone", () => {
    const reach = (ids: Parameters<typeof requirement>[1]) => requirement("read", ids).reach
    assert.strictEqual(reach({}), "organization")
    assert.strictEqual(reach({ org_id: "o" }), "organization")
    assert.strictEqual(reach({ project_id: "p" }), "project")
    for (const inside of [{ branch_id: "b" }, { endpoint_id: "e" }, { operation_id: "o" }])
      assert.strictEqual(reach({ project_id: "p", ...inside }), "branch")
  })

  it("a permission is never reached by a narrower scope than the calls that ask for it", () => {
    assert.strictEqual(requirement("create_projects", { project_id: "p" }).reach, "organization")
    assert.strictEqual(requirement("delete_projects", { project_id: "p", branch_id: "b" }).reach, "project")
  })

  it("agent keys pass reads alone, and keys of every kind are refused where only a person may act", () => {
    const owner = permissionsOf(knownRoles.at(-1) ?? "")
    assert.strictEqual(owner.size, Permission.literals.length)
    for (const permission of owner) {
      const { agent, kind } = requirement(permission, {})
      assert.strictEqual(agent, permission === "read" ? "any" : "never", permission)
      assert.strictEqual(
        kind,
        permission === "own_keys" || permission === "manage_keys" ? "session" : "any",
        permission
      )
    }
  })
})

import { assert, describe, it } from "@effect/vitest"
import { mayChangeRole } from "../../src/organizations/roleChange.ts"
import { coversRole, knownRoles, permissionsOf } from "../../src/authorization/Permission.ts"

describe("mayChangeRole", () => {
  const may = (caller: string, from: string | null, to: string | null) =>
    mayChangeRole(caller, permissionsOf(caller).has("manage_owners"), { from, to })

  it("lets nobody grant a role above their own", () => {
    for (const caller of knownRoles)
      for (const from of [null, ...knownRoles])
        for (const to of knownRoles)
          if (may(caller, from, to)) assert.isTrue(coversRole(caller, to), `${caller}: ${to}`)
  })

  it("leaves owners to owners, made, changed and removed", () => {
    for (const caller of ["viewer", "member", "admin"]) {
      assert.isFalse(may(caller, "owner", "viewer"))
      assert.isFalse(may(caller, "owner", null))
      assert.isFalse(may(caller, null, "owner"))
    }
    assert.isTrue(may("owner", "owner", "viewer"))
    assert.isTrue(may("owner", "owner", null))
    assert.isTrue(may("owner", null, "owner"))
  })

  it("lets an admin change what is below an owner", () => {
    assert.isTrue(may("admin", "viewer", "admin"))
    assert.isTrue(may("admin", "admin", "viewer"))
    assert.isTrue(may("admin", "member", null))
  })

  it("grants no role that it does not know", () => {
    assert.isFalse(may("owner", "member", "future"))
    assert.isFalse(may("future", "member", "viewer"))
  })
})

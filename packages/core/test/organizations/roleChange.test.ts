import { assert, describe, it } from "@effect/vitest"
import { coversRole, knownRoles, permissionsOf } from "../../src/rules/authorization/Permission.ts"
import { mayChangeRole } from "../../src/rules/organizations/roleChange.ts"

describe("mayChangeRole", () => {
  const may = (caller: string, from: string | null, to: string | null) =>
    mayChangeRole(caller, permissionsOf(caller).has("manage_owners"), { from, to })

  it("a caller cannot grant a role above their own", () => {
    for (const caller of knownRoles)
      for (const from of [null, ...knownRoles])
        for (const to of knownRoles)
          if (may(caller, from, to)) assert.isTrue(coversRole(caller, to), `${caller}: ${to}`)
  })

  it("only owners create, change and remove owners", () => {
    for (const caller of ["viewer", "member", "admin"]) {
      assert.isFalse(may(caller, "owner", "viewer"))
      assert.isFalse(may(caller, "owner", null))
      assert.isFalse(may(caller, null, "owner"))
    }
    assert.isTrue(may("owner", "owner", "viewer"))
    assert.isTrue(may("owner", "owner", null))
    assert.isTrue(may("owner", null, "owner"))
  })

  it("an admin changes and removes every role below owner", () => {
    assert.isTrue(may("admin", "viewer", "admin"))
    assert.isTrue(may("admin", "admin", "viewer"))
    assert.isTrue(may("admin", "member", null))
  })

  it("an unknown role is neither granted nor able to grant", () => {
    assert.isFalse(may("owner", "member", "future"))
    assert.isFalse(may("future", "member", "viewer"))
  })
})

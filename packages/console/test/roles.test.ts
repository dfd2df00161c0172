/** Which roles a person is offered (docs/design/authorization.md, Effective rights). */
import { assert, it } from "@effect/vitest"
import { rolesToGrant } from "../src/views/roles.ts"

it("a person is offered the built-in roles by their permissions, whatever their own role is called", () => {
  assert.deepStrictEqual(rolesToGrant(["manage_members"], "viewer"), ["viewer", "member", "admin"])
  assert.deepStrictEqual(rolesToGrant(["manage_members", "manage_owners"], "owner"), [
    "viewer",
    "member",
    "admin",
    "owner"
  ])
  assert.deepStrictEqual(rolesToGrant(["manage_members"], "owner"), [])
  assert.deepStrictEqual(rolesToGrant(["read"], null), [])
})

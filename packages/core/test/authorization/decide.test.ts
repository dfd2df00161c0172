import { assert, describe, it } from "@effect/vitest"
import { decide, decideTarget, lacksPermission } from "../../src/rules/authorization/decide.ts"
import { coversRole, knownRoles, permissionsOf } from "../../src/rules/authorization/Permission.ts"
import type { CredentialPolicy } from "../../src/rules/authorization/Policy.ts"
import { changes, reads, self, session } from "../../src/rules/authorization/Policy.ts"
import { capabilities, key, keyOf, other, own, passes, person, scopes } from "./callers.ts"

const codeOf = (refusal: ReturnType<typeof decide>) => refusal?.code
const owner = person("owner", "active")

describe("The order of answers", () => {
  const makeKey = session({ target: "none" })
  it.each([
    ["pending is answered before membership", decide(makeKey, person(null, "pending"), {}), "alpha_pending"],
    [
      "membership is answered before the credential's kind",
      decide(makeKey, keyOf(person(null, "active"), "read", { type: "organization" }), {}),
      "not_a_member"
    ],
    [
      "the credential's kind is answered before scope",
      decide(makeKey, keyOf(owner, "read", scopes[1] ?? { type: "organization" }), { project_id: other }),
      "session_required"
    ],
    [
      "scope is answered before capability",
      decide(
        changes("write", "change_projects", "project"),
        keyOf(owner, "read", { type: "project", project_id: own }),
        { project_id: other }
      ),
      "scope_insufficient"
    ],
    [
      "capability is answered before role",
      decide(
        changes("write", "change_projects", "project"),
        keyOf(person("viewer", "active"), "read", { type: "organization" }),
        { project_id: own }
      ),
      "capability_insufficient"
    ],
    [
      "role is answered last",
      decide(changes("write", "change_projects", "project"), person("viewer", "active"), { project_id: own }),
      "role_insufficient"
    ]
  ])("%s", (_what, refusal, code) => {
    assert.strictEqual(codeOf(refusal), code)
  })

  it("a narrow key gets the same refusal for foreign and unknown ids", () => {
    const caller = keyOf(owner, "read_write", { type: "project", project_id: own })
    assert.deepStrictEqual(
      decide(reads("project", "project"), caller, { project_id: other }),
      decide(reads("project", "project"), caller, { project_id: "no such thing" })
    )
  })

  it("a narrow key is refused calls whose reach exceeds its scope, even without ids in the path", () => {
    const reachedBy = (index: number) =>
      (["branch", "project", "organization"] as const).filter((reach) =>
        passes(reads("none", reach), keyOf(owner, "read_write", scopes[index] ?? { type: "organization" }), {})
      )
    assert.deepStrictEqual(reachedBy(0), ["branch", "project", "organization"])
    assert.deepStrictEqual(reachedBy(1), ["branch", "project"])
    assert.deepStrictEqual(reachedBy(2), ["branch"])
  })

  it("every key may revoke itself and no other key, whatever its capability and scope", () => {
    const revoke: CredentialPolicy = { ...self, target: "api_key", pending: false, ex_member: false }
    for (const capability of capabilities)
      for (const scope of scopes) {
        const caller = keyOf(owner, capability, scope)
        assert.isUndefined(decide(revoke, caller, { api_key_id: key }))
        assert.strictEqual(codeOf(decide(revoke, caller, { api_key_id: "key-other" })), "key_self_only")
      }
  })

  it("self calls are allowed to pending accounts and to ex-members' sessions, not to ex-members' keys", () => {
    assert.isUndefined(decide(self, person("owner", "pending"), {}))
    assert.isUndefined(decide(self, person(null, "active"), {}))
    assert.strictEqual(
      codeOf(decide(self, keyOf(person(null, "active"), "read_write", { type: "organization" }), {})),
      "not_a_member"
    )
  })

  it("an unknown role is allowed only self calls", () => {
    assert.isUndefined(decide(self, person("future", "active"), {}))
    assert.strictEqual(codeOf(decide(reads("none", "branch"), person("future", "active"), {})), "role_insufficient")
  })

  it("a role refusal names the required permission and the held role", () => {
    assert.deepStrictEqual(lacksPermission(person("member", "active"), "delete_projects"), {
      code: "role_insufficient",
      required: "delete_projects",
      held: "member"
    })
  })
})

describe("decideTarget", () => {
  const agent = keyOf(owner, "agent", { type: "organization" })
  const plain = { main: false, made_by_agent: false }
  const made = { main: false, made_by_agent: true }
  const main = { main: true, made_by_agent: true }
  it.each([
    ["any", plain, true],
    ["any", main, true],
    ["any", undefined, true],
    ["not_main", plain, true],
    ["not_main", made, true],
    ["not_main", main, false],
    ["not_main", undefined, false],
    ["made_by_agent", plain, false],
    ["made_by_agent", made, true],
    ["made_by_agent", main, false],
    ["never", made, false],
    ["never", undefined, false]
  ] as const)("the rule %s allows an agent key on %j: %s", (rule, branch, allowed) => {
    assert.strictEqual(decideTarget({ agent: rule }, agent, branch) === undefined, allowed)
  })

  it("the agent rule does not apply to sessions and other keys", () => {
    for (const caller of [owner, keyOf(owner, "read_write", { type: "organization" })])
      assert.isUndefined(decideTarget({ agent: "never" }, caller, main))
  })
})

describe("permissionsOf", () => {
  it("each role has all permissions of the weaker roles, and more", () => {
    const sizes = knownRoles.map((role) => permissionsOf(role).size)
    assert.deepStrictEqual(
      sizes,
      sizes.toSorted((a, b) => a - b)
    )
    assert.strictEqual(new Set(sizes).size, knownRoles.length)
    for (const [index, role] of knownRoles.entries())
      for (const weaker of knownRoles.slice(0, index))
        assert.includeMembers([...permissionsOf(role)], [...permissionsOf(weaker)], `${weaker} in ${role}`)
  })

  it.each(["", "OWNER", "toString", "__proto__", "constructor", "future"])(
    "the unknown role %j has no permissions",
    (role) => {
      assert.strictEqual(permissionsOf(role).size, 0)
      assert.isFalse(coversRole("owner", role))
      assert.isFalse(coversRole(role, role))
    }
  )
})

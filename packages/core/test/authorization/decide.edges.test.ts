import { assert, describe, it } from "@effect/vitest"
import { decide, decideTarget } from "../../src/rules/authorization/decide.ts"
import { permissionsOf } from "../../src/rules/authorization/Permission.ts"
import { type CallEffect, type CredentialPolicy, changes, reads, self } from "../../src/rules/authorization/Policy.ts"
import { key, keyOf, other, otherBranch, own, ownBranch, person } from "./callers.ts"

const owner = person("owner", "active")
const everywhere = { type: "organization" } as const
const codeOf = (...given: Parameters<typeof decide>) => decide(...given)?.code

describe("The decision at its edges", () => {
  it("a pending account's key may revoke itself and no other key", () => {
    const revoke: CredentialPolicy = { ...self, target: "api_key" }
    const caller = keyOf(person("owner", "pending"), "read", everywhere)
    assert.isUndefined(codeOf(revoke, caller, { api_key_id: key }))
    assert.strictEqual(codeOf(revoke, caller, { api_key_id: "key-other" }), "alpha_pending")
    assert.strictEqual(codeOf(revoke, person("owner", "pending"), { api_key_id: key }), "alpha_pending")
  })

  it("every member may leave, and only callers who manage members may remove another", () => {
    const leave = changes("admin", "leave", "member", { reach: "organization" })
    const viewer = person("viewer", "active")
    assert.isUndefined(codeOf(leave, viewer, { user_id: viewer.user.id }))
    assert.strictEqual(codeOf(leave, viewer, { user_id: "another" }), "role_insufficient")
    assert.isUndefined(codeOf(leave, owner, { user_id: "another" }))
  })

  it("each capability allows exactly its effects", () => {
    const all: ReadonlyArray<CallEffect> = ["self", "read", "write", "sandbox", "destroy", "mint", "admin"]
    const allowed = (capability: "read_write" | "read" | "agent") =>
      all.filter((effect) => {
        const policy: CredentialPolicy = { ...reads("none", "branch"), effect }
        return codeOf(policy, keyOf(owner, capability, everywhere), {}) === undefined
      })
    assert.deepStrictEqual(allowed("read_write"), all)
    assert.deepStrictEqual(allowed("read"), ["self", "read"])
    assert.deepStrictEqual(allowed("agent"), ["self", "read", "sandbox", "mint"])
  })

  it("a policy that excludes agents refuses agent keys, even if their capability allows the effect", () => {
    const policy = changes("sandbox", "create_projects", "none", { reach: "branch", agent: "never" })
    assert.strictEqual(codeOf(policy, keyOf(owner, "agent", everywhere), {}), "capability_insufficient")
    assert.isUndefined(codeOf({ ...policy, agent: "any" }, keyOf(owner, "agent", everywhere), {}))
  })

  it("a branch key is refused outside its branch", () => {
    const branch_key = keyOf(owner, "read", { type: "branch", project_id: own, branch_id: ownBranch })
    const policy = reads("branch", "branch")
    assert.isUndefined(codeOf(policy, branch_key, { project_id: own, branch_id: ownBranch }))
    assert.strictEqual(codeOf(policy, branch_key, { project_id: own, branch_id: otherBranch }), "scope_insufficient")
    assert.strictEqual(codeOf(policy, branch_key, { project_id: other, branch_id: ownBranch }), "scope_insufficient")
  })

  it("a narrow key may read itself and no other key", () => {
    const narrow = keyOf(owner, "read", { type: "project", project_id: own })
    const policy = reads("api_key", "branch")
    assert.isUndefined(codeOf(policy, narrow, { api_key_id: key }))
    assert.strictEqual(codeOf(policy, narrow, { api_key_id: "key-other" }), "scope_insufficient")
  })
})

describe("The weakest role", () => {
  it("a viewer may read, mint read-only credentials, manage own keys and leave", () => {
    assert.deepStrictEqual([...permissionsOf("viewer")], ["read", "mint_read_only", "own_keys", "leave"])
  })

  it("a refusal says what the call requires and what the caller holds", () => {
    const said = (...given: Parameters<typeof decide>) => {
      const { held = null, required = null } = decide(...given) ?? {}
      return [required, held]
    }
    const policy = reads("branch", "branch")
    const agent = keyOf(owner, "agent", everywhere)
    assert.deepStrictEqual(said(policy, person("owner", "pending"), {}), ["active", "pending"])
    assert.deepStrictEqual(said(policy, person(null, "active"), {}), ["membership", null])
    assert.deepStrictEqual(said({ ...policy, kind: "session" }, agent, {}), ["session", "api_key"])
    assert.deepStrictEqual(said({ ...self, target: "api_key" }, agent, {}), ["session", "api_key"])
    assert.deepStrictEqual(said({ ...policy, agent: "never" }, agent, {}), ["read_write", "agent"])
    const refused = decideTarget({ ...policy, agent: "not_main" }, agent, undefined)
    assert.deepStrictEqual([refused?.required, refused?.held], ["read_write", "agent"])
  })
})

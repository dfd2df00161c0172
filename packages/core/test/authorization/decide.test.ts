import { assert, describe, it } from "@effect/vitest"
import { ActiveOrganization } from "../../src/accounts/Organization.ts"
import { decide, decideTarget, lacksPermission, type PathIds } from "../../src/authorization/decide.ts"
import { coversRole, knownRoles, permissionsOf } from "../../src/authorization/Permission.ts"
import type { CallEffect, CredentialPolicy, Reach, TargetKind } from "../../src/authorization/Policy.ts"
import { changes, reads, self, session } from "../../src/authorization/Policy.ts"
import type { KeyCaller, SessionCaller } from "../../src/authorization/Principal.ts"
import { ApiKeyId, BranchId, ProjectId, SessionId } from "../../src/Ids.ts"
import type { Capability, Scope } from "../../src/keys/ApiKey.ts"
import { anOrgId, aUser } from "../../testing/records.ts"

const org = anOrgId()
const [own, other] = [ProjectId.make("prj-own"), ProjectId.make("prj-other")]
const [ownBranch, otherBranch] = [BranchId.make("br-own"), BranchId.make("br-other")]
const key = ApiKeyId.make("key-own")
const user = aUser()

const roles = [...knownRoles, "future", null]
const states = ["active", "pending"] as const
const capabilities: ReadonlyArray<Capability> = ["read_write", "read", "agent"]
const scopes: ReadonlyArray<Scope> = [
  { type: "organization" },
  { type: "project", project_id: own },
  { type: "branch", project_id: own, branch_id: ownBranch }
]

const person = (role: string | null, account_state: "active" | "pending"): SessionCaller => ({
  kind: "session",
  session_id: SessionId.make("0198"),
  user,
  org_id: org,
  organization: new ActiveOrganization({ id: org, name: "Team", role, personal: false }),
  account_state,
  permissions: permissionsOf(role ?? ""),
  expires_at: null
})

const secret = { digest: "digest", pepper_id: "1", dies_at: null }
const keyOf = (creator: SessionCaller, capability: Capability, scope: Scope): KeyCaller => {
  const { session_id: _session, ...rest } = creator
  return { ...rest, kind: "api_key", api_key_id: key, api_key_name: "ci", capability, scope, secret }
}

const effects: ReadonlyArray<CallEffect> = ["self", "read", "write", "sandbox", "destroy", "mint", "admin"]
const reaches: ReadonlyArray<Reach> = ["organization", "project", "branch"]
const targets: ReadonlyArray<TargetKind> = ["none", "organization", "api_key", "branch"]

/** Every policy that the types allow, as far as `decide` tells them apart. */
const policies: ReadonlyArray<CredentialPolicy> = effects.flatMap((effect) =>
  reaches.flatMap((reach) =>
    targets.flatMap((target) =>
      ([null, "read", "leave", "change_projects", "manage_owners"] as const).flatMap((permission) =>
        (["any", "session"] as const).flatMap((kind) =>
          (["any", "never"] as const).flatMap((agent) =>
            [true, false].map(
              (open): CredentialPolicy => ({
                _tag: "Credential",
                kind,
                effect,
                permission,
                target,
                reach,
                agent,
                pending: open,
                ex_member: open
              })
            )
          )
        )
      )
    )
  )
)

const paths: ReadonlyArray<PathIds> = [
  {},
  { org_id: org },
  { api_key_id: key },
  { api_key_id: "key-other" },
  { project_id: own },
  { project_id: other },
  { project_id: own, branch_id: ownBranch },
  { project_id: own, branch_id: otherBranch },
  { project_id: other, branch_id: ownBranch },
  { project_id: own, endpoint_id: "ep-1" },
  { org_id: org, user_id: user.id },
  { org_id: org, user_id: "somebody else" }
]

const everyCall = (judge: (policy: CredentialPolicy, ids: PathIds, creator: SessionCaller) => void) => {
  for (const role of roles)
    for (const state of states)
      for (const policy of policies) for (const ids of paths) judge(policy, ids, person(role, state))
}

const passes = (policy: CredentialPolicy, caller: SessionCaller | KeyCaller, ids: PathIds) =>
  decide(policy, caller, ids) === undefined

/** Row 6 of the matrix: a key may end itself where its person can do nothing yet. */
const endsItself = ({ effect, target }: CredentialPolicy, ids: PathIds) =>
  effect === "self" && target === "api_key" && ids.api_key_id === key

const never = (wrong: boolean, what: unknown) => {
  if (wrong) assert.fail(JSON.stringify(what))
}

describe("decide, for every policy, path, role and state", () => {
  it("lets no key do what a session of its creator may not, but for ending itself", () => {
    let allowed = 0
    everyCall((policy, ids, creator) => {
      const person = passes(policy, creator, ids) || endsItself(policy, ids)
      for (const capability of capabilities)
        for (const scope of scopes) {
          if (!passes(policy, keyOf(creator, capability, scope), ids)) continue
          allowed++
          never(!person, { policy, ids, capability, scope })
        }
    })
    assert.isAbove(allowed, 1000)
  })

  it("never allows a narrower scope more", () => {
    everyCall((policy, ids, creator) => {
      for (const capability of capabilities) {
        const [wide, middle, narrow] = scopes.map((scope) => passes(policy, keyOf(creator, capability, scope), ids))
        never((narrow === true && middle === false) || (middle === true && wide === false), { policy, ids, capability })
      }
    })
  })

  it("never allows a narrower capability more", () => {
    everyCall((policy, ids, creator) => {
      for (const scope of scopes) {
        const full = passes(policy, keyOf(creator, "read_write", scope), ids)
        for (const capability of ["read", "agent"] as const)
          never(!full && passes(policy, keyOf(creator, capability, scope), ids), { policy, ids, capability, scope })
      }
    })
  })

  it("lets a read key do nothing but read and see to itself", () => {
    everyCall((policy, ids, creator) => {
      const passed = passes(policy, keyOf(creator, "read", { type: "organization" }), ids)
      never(passed && policy.effect !== "self" && policy.effect !== "read", { policy, ids })
    })
  })

  it("never allows a weaker role more", () => {
    everyCall((policy, ids, creator) => {
      const strong = passes(policy, creator, ids)
      for (const role of knownRoles.filter((it) => coversRole(creator.organization.role ?? "", it)))
        never(!strong && passes(policy, person(role, creator.account_state), ids), { policy, ids, role })
    })
  })
})

const codeOf = (refusal: ReturnType<typeof decide>) => refusal?.code
const owner = person("owner", "active")

describe("The order of answers", () => {
  const makeKey = session({ target: "none" })
  it.each([
    ["pending before membership", decide(makeKey, person(null, "pending"), {}), "alpha_pending"],
    [
      "membership before the kind",
      decide(makeKey, keyOf(person(null, "active"), "read", { type: "organization" }), {}),
      "not_a_member"
    ],
    [
      "kind before scope",
      decide(makeKey, keyOf(owner, "read", scopes[1] ?? { type: "organization" }), { project_id: other }),
      "session_required"
    ],
    [
      "scope before capability",
      decide(
        changes("write", "change_projects", "project"),
        keyOf(owner, "read", { type: "project", project_id: own }),
        { project_id: other }
      ),
      "scope_insufficient"
    ],
    [
      "capability before role",
      decide(
        changes("write", "change_projects", "project"),
        keyOf(person("viewer", "active"), "read", { type: "organization" }),
        { project_id: own }
      ),
      "capability_insufficient"
    ],
    [
      "role last",
      decide(changes("write", "change_projects", "project"), person("viewer", "active"), { project_id: own }),
      "role_insufficient"
    ]
  ])("%s", (_what, refusal, code) => {
    assert.strictEqual(codeOf(refusal), code)
  })

  it("tells own, foreign and invented ids of a narrow key's scope alike", () => {
    const caller = keyOf(owner, "read_write", { type: "project", project_id: own })
    assert.deepStrictEqual(
      decide(reads("project", "project"), caller, { project_id: other }),
      decide(reads("project", "project"), caller, { project_id: "no such thing" })
    )
  })

  it("stops a narrow key at what is wider than its scope, though no id says so", () => {
    const reachedBy = (index: number) =>
      (["branch", "project", "organization"] as const).filter((reach) =>
        passes(reads("none", reach), keyOf(owner, "read_write", scopes[index] ?? { type: "organization" }), {})
      )
    assert.deepStrictEqual(reachedBy(0), ["branch", "project", "organization"])
    assert.deepStrictEqual(reachedBy(1), ["branch", "project"])
    assert.deepStrictEqual(reachedBy(2), ["branch"])
  })

  it("lets every key end itself, whatever it may do, and no other", () => {
    const revoke: CredentialPolicy = { ...self, target: "api_key", pending: false, ex_member: false }
    for (const capability of capabilities)
      for (const scope of scopes) {
        const caller = keyOf(owner, capability, scope)
        assert.isUndefined(decide(revoke, caller, { api_key_id: key }))
        assert.strictEqual(codeOf(decide(revoke, caller, { api_key_id: "key-other" })), "key_self_only")
      }
  })

  it("lets the self calls through for pending accounts, and for ex-members' sessions but not their keys", () => {
    assert.isUndefined(decide(self, person("owner", "pending"), {}))
    assert.isUndefined(decide(self, person(null, "active"), {}))
    assert.strictEqual(
      codeOf(decide(self, keyOf(person(null, "active"), "read_write", { type: "organization" }), {})),
      "not_a_member"
    )
  })

  it("gives an unknown role nothing but the self calls", () => {
    assert.isUndefined(decide(self, person("future", "active"), {}))
    assert.strictEqual(codeOf(decide(reads("none", "branch"), person("future", "active"), {})), "role_insufficient")
  })

  it("names what was needed and what was held", () => {
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
  ] as const)("an agent under the rule %s on %j: %s", (rule, branch, allowed) => {
    assert.strictEqual(decideTarget({ agent: rule }, agent, branch) === undefined, allowed)
  })

  it("asks nothing of others", () => {
    for (const caller of [owner, keyOf(owner, "read_write", { type: "organization" })])
      assert.isUndefined(decideTarget({ agent: "never" }, caller, main))
  })
})

describe("permissionsOf", () => {
  it("gives each role all that the weaker ones have, and more", () => {
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

  it.each(["", "OWNER", "toString", "__proto__", "constructor", "future"])("gives %j none", (role) => {
    assert.strictEqual(permissionsOf(role).size, 0)
    assert.isFalse(coversRole("owner", role))
    assert.isFalse(coversRole(role, role))
  })
})

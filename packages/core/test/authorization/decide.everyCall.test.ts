/** Properties of `decide` for every policy that the types allow, every path, role, account state and key. */
import { assert, describe, it } from "@effect/vitest"
import type { Capability } from "../../src/records/keys/ApiKey.ts"
import type { PathIds } from "../../src/rules/authorization/decide.ts"
import { coversRole, knownRoles } from "../../src/rules/authorization/Permission.ts"
import type { CallEffect, CredentialPolicy, Reach, TargetKind } from "../../src/rules/authorization/Policy.ts"
import type { KeyCaller, SessionCaller } from "../../src/rules/authorization/Principal.ts"
import {
  capabilities,
  key,
  keyOf,
  org,
  other,
  otherBranch,
  own,
  ownBranch,
  passes,
  person,
  roles,
  scopes,
  states,
  user
} from "./callers.ts"

const effects: ReadonlyArray<CallEffect> = ["self", "read", "write", "sandbox", "destroy", "mint", "admin"]
const reaches: ReadonlyArray<Reach> = ["organization", "project", "branch"]
const targets: ReadonlyArray<TargetKind> = ["none", "organization", "api_key", "branch"]

/** Every policy that the types allow, as far as `decide` distinguishes them. */
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

/** A person and every key that the person could have created. Built once, for half a million decisions. */
interface Creator {
  readonly session: SessionCaller
  readonly key: (capability: Capability, scope: number) => KeyCaller
}

const creatorOf = (role: string | null, state: "active" | "pending"): Creator => {
  const session = person(role, state)
  const keys = new Map(
    capabilities.map((capability) => [capability, scopes.map((scope) => keyOf(session, capability, scope))] as const)
  )
  const key = (capability: Capability, scope: number) => {
    const found = keys.get(capability)?.[scope]
    if (found === undefined) throw new Error(`There is no ${capability} key of scope ${scope}.`)
    return found
  }
  return { session, key }
}

const everyScope = [...scopes.keys()]

const everyCall = (judge: (policy: CredentialPolicy, ids: PathIds, creator: Creator) => void) => {
  for (const role of roles)
    for (const state of states) {
      const creator = creatorOf(role, state)
      for (const policy of policies) for (const ids of paths) judge(policy, ids, creator)
    }
}

/** Row 6 of the matrix: a key may revoke itself even if its creator's account is pending. */
const endsItself = ({ effect, target }: CredentialPolicy, ids: PathIds) =>
  effect === "self" && target === "api_key" && ids.api_key_id === key

const never = (wrong: boolean, what: () => unknown) => {
  if (wrong) assert.fail(JSON.stringify(what()))
}

describe("decide, for every policy, path, role and state", () => {
  it("a key is never allowed what a session of its creator is refused, except to revoke itself", () => {
    let allowed = 0
    everyCall((policy, ids, creator) => {
      const person = passes(policy, creator.session, ids) || endsItself(policy, ids)
      for (const capability of capabilities)
        for (const scope of everyScope) {
          if (!passes(policy, creator.key(capability, scope), ids)) continue
          allowed++
          never(!person, () => ({ policy, ids, capability, scope }))
        }
    })
    assert.isAbove(allowed, 1000)
  })

  it("a narrower scope never allows more", () => {
    everyCall((policy, ids, creator) => {
      for (const capability of capabilities) {
        const [wide, middle, narrow] = everyScope.map((scope) => passes(policy, creator.key(capability, scope), ids))
        const widened = (narrow === true && middle === false) || (middle === true && wide === false)
        never(widened, () => ({ policy, ids, capability }))
      }
    })
  })

  it("a narrower capability never allows more", () => {
    everyCall((policy, ids, creator) => {
      for (const scope of everyScope) {
        const full = passes(policy, creator.key("read_write", scope), ids)
        for (const capability of ["read", "agent"] as const)
          never(!full && passes(policy, creator.key(capability, scope), ids), () => ({
            policy,
            ids,
            capability,
            scope
          }))
      }
    })
  })

  it("a read key is allowed only reads and self calls", () => {
    everyCall((policy, ids, creator) => {
      const passed = passes(policy, creator.key("read", 0), ids)
      never(passed && policy.effect !== "self" && policy.effect !== "read", () => ({ policy, ids }))
    })
  })

  it("a weaker role never allows more", () => {
    for (const state of states)
      for (const strong of roles) {
        const stronger = person(strong, state)
        for (const weak of knownRoles.filter((it) => coversRole(strong ?? "", it))) {
          const weaker = person(weak, state)
          for (const policy of policies)
            for (const ids of paths)
              never(!passes(policy, stronger, ids) && passes(policy, weaker, ids), () => ({
                policy,
                ids,
                strong,
                weak
              }))
        }
      }
  })
})

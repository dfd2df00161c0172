/**
 * The one place that decides whether a call is allowed (docs/design/authorization.md Z6, steps 4 to 9 and 11).
 *
 * Two pure questions: `decide` before anything is looked up, from the credential and the ids in the path alone, and
 * `decideTarget` once the object is known. Between them the object is looked up, which may answer `not_found`.
 */

import type { RefusalCode } from "../../Refusals.ts"
import type { Capability } from "../../records/keys/ApiKey.ts"
import type { Branch } from "../../records/projects/Branch.ts"
import type { Permission } from "./Permission.ts"
import type { AgentRule, CallEffect, CredentialPolicy, Reach } from "./Policy.ts"
import type { AnyCaller, KeyCaller } from "./Principal.ts"

/** A refusal, and what the call would have required. It never reveals what exists elsewhere. */
export interface Refusal {
  readonly code: RefusalCode
  readonly required: string | null
  readonly held: string | null
}

/** The ids that a path names, as text; nothing of them is known to exist. */
export interface PathIds {
  readonly org_id?: string
  readonly project_id?: string
  readonly branch_id?: string
  readonly endpoint_id?: string
  readonly operation_id?: string
  readonly api_key_id?: string
  readonly user_id?: string
  readonly webhook_id?: string
  readonly role?: string
}

export const effectsOf: Record<Capability, ReadonlySet<CallEffect>> = {
  read_write: new Set<CallEffect>(["self", "read", "write", "sandbox", "destroy", "mint", "admin"]),
  read: new Set<CallEffect>(["self", "read"]),
  agent: new Set<CallEffect>(["self", "read", "sandbox", "mint"])
}

const refuse = (code: RefusalCode, required: string | null, held: string | null): Refusal => ({ code, required, held })

/** Steps 4 to 9: `undefined` lets the call go on to the look-up of its object. */
export const decide = (policy: CredentialPolicy, caller: AnyCaller, ids: PathIds): Refusal | undefined => {
  if (caller.account_state === "pending" && !passesPending(policy, caller, ids))
    return refuse("alpha_pending", "active", "pending")
  if (caller.organization.role === null && !(policy.ex_member && caller.kind === "session"))
    return refuse("not_a_member", "membership", null)
  if (caller.kind === "api_key") {
    if (policy.kind === "session") return refuse("session_required", "session", "api_key")
    const refusal = decideKey(policy, caller, ids)
    if (refusal !== undefined) return refusal
  }
  // Every member may leave; removing another member is a separate permission.
  const removesOther = policy.permission === "leave" && ids.user_id !== undefined && ids.user_id !== caller.user.id
  return lacksPermission(caller, removesOther ? "manage_members" : policy.permission)
}

/** Step 9 alone, for permissions that a body asks for. */
export const lacksPermission = (caller: AnyCaller, permission: Permission | null): Refusal | undefined =>
  permission === null || caller.permissions.has(permission)
    ? undefined
    : refuse("role_insufficient", permission, caller.organization.role)

/** Step 11: what agent keys may not do to this branch. */
export const decideTarget = (
  policy: Pick<CredentialPolicy, "agent">,
  caller: AnyCaller,
  branch: Pick<Branch, "main" | "made_by_agent"> | undefined
): Refusal | undefined =>
  !isAgent(caller) || agentMay(policy.agent, branch)
    ? undefined
    : refuse("capability_insufficient", "read_write", "agent")

/** Whether the caller is an agent's key: what such a key may do depends on the branch, which may become *main*. */
export const isAgent = (caller: AnyCaller): boolean => caller.kind === "api_key" && caller.capability === "agent"

const endsKey = (policy: CredentialPolicy) => policy.target === "api_key" && policy.effect === "self"

/**
 * A key of a pending account may revoke itself. Otherwise a call that names a key by its id is not about the caller.
 */
const passesPending = (policy: CredentialPolicy, caller: AnyCaller, { api_key_id }: PathIds): boolean =>
  policy.pending && (!endsKey(policy) || api_key_id === (caller.kind === "api_key" ? caller.api_key_id : undefined))

const decideKey = (policy: CredentialPolicy, caller: KeyCaller, ids: PathIds): Refusal | undefined => {
  if (endsKey(policy))
    return ids.api_key_id === caller.api_key_id ? undefined : refuse("key_self_only", "session", "api_key")
  if (!reaches(policy, caller, ids)) return refuse("scope_insufficient", sufficientScope(policy), caller.scope.type)
  const allowed =
    effectsOf[caller.capability].has(policy.effect) && !(caller.capability === "agent" && policy.agent === "never")
  return allowed ? undefined : refuse("capability_insufficient", "read_write", caller.capability)
}

/** The narrowest scope that passes step 7 whatever the branch is: whether it is *main* is not looked up for a refusal. */
export const sufficientScope = ({ reach, reach_main = reach }: CredentialPolicy): Reach => reach_main

/** How much a scope holds. */
export const width = { organization: 2, project: 1, branch: 0 } as const

/**
 * Step 7: does the key's scope contain what the path names? For a branch key, endpoints and operations are looked up
 * later, inside its branch.
 */
const reaches = (policy: CredentialPolicy, { api_key_id, scope }: KeyCaller, ids: PathIds): boolean => {
  if (scope.type === "organization") return true
  if (policy.target === "api_key") return ids.api_key_id === api_key_id
  if (width[scope.type] < width[policy.reach]) return false
  if (ids.project_id !== undefined && ids.project_id !== scope.project_id) return false
  return scope.type === "project" || ids.branch_id === undefined || ids.branch_id === scope.branch_id
}

const agentMay = (rule: AgentRule, branch: Pick<Branch, "main" | "made_by_agent"> | undefined): boolean => {
  if (rule === "any") return true
  if (rule === "never" || branch === undefined || branch.main) return false
  return rule === "not_main" || branch.made_by_agent
}

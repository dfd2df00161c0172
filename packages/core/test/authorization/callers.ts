/** Callers and paths for the tests of `decide`. */

import { ApiKeyId, BranchId, ProjectId, SessionId } from "../../src/Ids.ts"
import type { Capability, Scope } from "../../src/records/keys/ApiKey.ts"
import { decide, type PathIds } from "../../src/rules/authorization/decide.ts"
import { knownRoles, permissionsOf } from "../../src/rules/authorization/Permission.ts"
import type { CredentialPolicy } from "../../src/rules/authorization/Policy.ts"
import type { KeyCaller, SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { anOrgId, aUser } from "../../testing/records.ts"

export const org = anOrgId()
export const [own, other] = [ProjectId.make("prj-own"), ProjectId.make("prj-other")]
export const [ownBranch, otherBranch] = [BranchId.make("br-own"), BranchId.make("br-other")]
export const key = ApiKeyId.make("key-own")
export const user = aUser()

export const roles = [...knownRoles, "future", null]
export const states = ["active", "pending"] as const
export const capabilities: ReadonlyArray<Capability> = ["read_write", "read", "agent"]
export const scopes: ReadonlyArray<Scope> = [
  { type: "organization" },
  { type: "project", project_id: own },
  { type: "branch", project_id: own, branch_id: ownBranch }
]

export const person = (role: string | null, account_state: "active" | "pending"): SessionCaller => ({
  kind: "session",
  session_id: SessionId.make("0198"),
  user,
  org_id: org,
  organization: { id: org, name: "Team", role, personal: false },
  invited_by: null,
  account_state,
  permissions: permissionsOf(role ?? ""),
  expires_at: null
})

const secret = { digest: "digest", pepper_id: "1", dies_at: null }
export const keyOf = (creator: SessionCaller, capability: Capability, scope: Scope): KeyCaller => {
  const { session_id: _session, ...rest } = creator
  return { ...rest, kind: "api_key", api_key_id: key, api_key_name: "ci", capability, scope, secret }
}

export const passes = (policy: CredentialPolicy, caller: SessionCaller | KeyCaller, ids: PathIds) =>
  decide(policy, caller, ids) === undefined

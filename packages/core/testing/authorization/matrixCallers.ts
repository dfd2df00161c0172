/** A caller for each column of the matrix (docs/design/authorization.md Z29), and the letters of its cells (Z30). */
import { DateTime } from "effect"
import { ApiKeyId, BranchId, OrgId, ProjectId, SessionId, UserId } from "../../src/Ids.ts"
import type { RefusalCode } from "../../src/Refusals.ts"
import { User } from "../../src/records/accounts/User.ts"
import type { Capability, Scope } from "../../src/records/keys/ApiKey.ts"
import { permissionsOf } from "../../src/rules/authorization/Permission.ts"
import type { KeyCaller, SessionCaller } from "../../src/rules/authorization/Principal.ts"

/** The ids of the callers of the matrix, and of the objects that their keys are narrowed to. */
export const matrixIds = {
  user_id: UserId.make("u-1"),
  org_id: OrgId.make("o-1"),
  project_id: ProjectId.make("prj-1"),
  branch_id: BranchId.make("br-1"),
  api_key_id: ApiKeyId.make("key-own")
}
const { api_key_id, branch_id, org_id, project_id, user_id } = matrixIds

const matrixScopes = {
  organization: { type: "organization" },
  project: { type: "project", project_id },
  branch: { type: "branch", project_id, branch_id }
} as const satisfies Record<Scope["type"], Scope>

const user = new User({
  id: user_id,
  issuer: "https://id.example",
  subject: "1",
  email: "ada@example.com",
  email_verified: true,
  name: null,
  created_at: DateTime.makeUnsafe(0),
  enabled_at: null,
  disabled_at: null
})

const person = (role: string | null, account_state: "active" | "pending") => ({
  user,
  org_id,
  organization: { id: org_id, name: "organization", role, personal: false },
  invited_by: null,
  account_state,
  permissions: permissionsOf(role ?? ""),
  expires_at: null
})

/** A session in this role; `null`: of a former member. */
const aSessionCaller = (role: string | null, account_state: "active" | "pending" = "active"): SessionCaller => ({
  ...person(role, account_state),
  kind: "session",
  session_id: SessionId.make("s-1")
})

/** An owner's key. */
const aKeyCaller = (capability: Capability, scope: Scope = matrixScopes.organization): KeyCaller => ({
  ...person("owner", "active"),
  kind: "api_key",
  api_key_id,
  api_key_name: "key",
  capability,
  scope,
  secret: { digest: "digest", pepper_id: "1", dies_at: null }
})

/** The columns of the matrix from the pending account on. */
export const matrixCallers = {
  P: aSessionCaller("owner", "pending"),
  X: aSessionCaller(null),
  O: aSessionCaller("owner"),
  A: aSessionCaller("admin"),
  M: aSessionCaller("member"),
  V: aSessionCaller("viewer"),
  KW: aKeyCaller("read_write"),
  KP: aKeyCaller("read_write", matrixScopes.project),
  KB: aKeyCaller("read_write", matrixScopes.branch),
  KR: aKeyCaller("read"),
  KA: aKeyCaller("agent")
}

/** The letter of a refusal. */
export const refusalLetters: Readonly<Record<RefusalCode, string>> = {
  alpha_pending: "a",
  not_a_member: "n",
  session_required: "s",
  key_self_only: "k",
  scope_insufficient: "i",
  capability_insufficient: "c",
  role_insufficient: "r"
}

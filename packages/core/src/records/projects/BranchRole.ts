/**
 * A Postgres role that was minted for a branch. The control plane stores a SCRAM verifier, as Postgres does; the
 * password is returned once. Roles of a suspended branch are applied at its next start.
 *
 * A role belongs to the person who minted it, through a session or an API key, and ends with what that person or key
 * may do (docs/design/authorization.md Z38). Roles that were minted before this was recorded belong to no person.
 */
import { DateTime, Schema } from "effect"
import { ApiKeyId, BranchId, OrgId, ProjectId } from "../../Ids.ts"
import { UserRef } from "../accounts/UserRef.ts"

export const Access = Schema.Literals(["read_write", "read_only"])
export type Access = typeof Access.Type

/** Every role that this platform minted has a name of this form. Other text names none. */
export const isRoleName = (text: string): boolean => /^role_[a-z0-9]{16}$/.test(text)

/** `pending`: Postgres has not confirmed it yet. `ending`: it is revoked or expired, and its sessions may still run. */
export const RoleState = Schema.Literals(["pending", "active", "ending"])
export type RoleState = typeof RoleState.Type

/** A role as the API shows it: without its verifier. */
export class CredentialView extends Schema.Class<CredentialView>("CredentialView")({
  role: Schema.String,
  access: Access,
  state: RoleState,
  project_id: ProjectId,
  branch_id: BranchId,
  minted_by: Schema.NullOr(UserRef),
  api_key_id: Schema.NullOr(ApiKeyId),
  api_key_name: Schema.NullOr(Schema.String),
  created_at: Schema.DateTimeUtcFromString,
  expires_at: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {}

export class BranchRole extends Schema.Class<BranchRole>("BranchRole")({
  role: Schema.String,
  /** `null`, like `minted_by`, of roles from before either was recorded. */
  org_id: Schema.NullOr(OrgId),
  project_id: ProjectId,
  branch_id: BranchId,
  access: Access,
  verifier: Schema.String,
  /** Whether an agent key minted it. Such a role is revoked when its branch becomes main. */
  minted_by_agent: Schema.Boolean,
  minted_by: Schema.NullOr(UserRef),
  /** The key that minted it, and its name then; `null`: a session. */
  api_key_id: Schema.NullOr(ApiKeyId),
  api_key_name: Schema.NullOr(Schema.String),
  created_at: Schema.DateTimeUtcFromString,
  expires_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  revoked_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  /** When a compute confirmed that it has the role. */
  applied_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  /** When it was confirmed that no compute has the role, after its end. */
  removed_at: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {
  validAt(now: DateTime.Utc): boolean {
    return this.revoked_at === null && (this.expires_at === null || DateTime.isLessThan(now, this.expires_at))
  }

  /** The role as the API shows it. */
  viewAt(now: DateTime.Utc): CredentialView {
    const state = !this.validAt(now) ? "ending" : this.applied_at === null ? "pending" : "active"
    return new CredentialView({ ...this, state })
  }
}

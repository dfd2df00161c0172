/**
 * A Postgres role that was minted for a branch. The control plane stores a SCRAM verifier, as Postgres does; the
 * password is returned once. Roles of a suspended branch are applied at its next start.
 */
import { DateTime, Schema } from "effect"
import { BranchId, ProjectId } from "../Ids.ts"

export const Access = Schema.Literals(["read_write", "read_only"])
export type Access = typeof Access.Type

export class BranchRole extends Schema.Class<BranchRole>("BranchRole")({
  role: Schema.String,
  project_id: ProjectId,
  branch_id: BranchId,
  access: Access,
  verifier: Schema.String,
  /** Did an agent key mint it? Such a role is revoked when its branch becomes main. */
  minted_by_agent: Schema.Boolean,
  created_at: Schema.DateTimeUtcFromString,
  expires_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  revoked_at: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {
  validAt(now: DateTime.Utc): boolean {
    return this.revoked_at === null && (this.expires_at === null || DateTime.isLessThan(now, this.expires_at))
  }
}

/** A branch: a copy of a project's data. *main*: the default branch or a protected one (docs/design/authorization.md). */
import { Schema } from "effect"
import { UserRef } from "../accounts/UserRef.ts"
import { BranchId, ProjectId, RegionId } from "../Ids.ts"

export const BranchState = Schema.Literals(["init", "ready", "resetting", "archived"])
export type BranchState = typeof BranchState.Type

export class Branch extends Schema.Class<Branch>("Branch")({
  id: BranchId,
  project_id: ProjectId,
  region_id: RegionId,
  parent_id: Schema.NullOr(BranchId),
  name: Schema.String,
  current_state: BranchState,
  pending_state: Schema.NullOr(BranchState),
  default: Schema.Boolean,
  protected: Schema.Boolean,
  /** Was it created by an agent key? Agent keys may reset, change and delete only such branches. */
  made_by_agent: Schema.Boolean,
  expires_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  created_at: Schema.DateTimeUtcFromString,
  updated_at: Schema.DateTimeUtcFromString,
  created_by: Schema.NullOr(UserRef)
}) {
  get main(): boolean {
    return this.default || this.protected
  }
}

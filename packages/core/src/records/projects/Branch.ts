/**
 * A branch: a copy of a project's data. *main*: the default branch or a protected one (docs/design/authorization.md).
 */
import { type DateTime, Schema } from "effect"
import { ApiKeyId, BranchId, ProjectId, RegionId } from "../../Ids.ts"
import { exampleIds as ids, means } from "../../means.ts"
import { UserRef } from "../accounts/UserRef.ts"

export const BranchState = Schema.Literals(["init", "ready", "resetting", "archived"])
export type BranchState = typeof BranchState.Type

const fields = {
  id: BranchId.annotateKey(means("The id of the branch.", ids.branch)),
  project_id: ProjectId,
  region_id: RegionId,
  parent_id: Schema.NullOr(BranchId).annotateKey(
    means("The id of the branch that this one was copied from; `null`: the first branch of the project.", null)
  ),
  name: Schema.String.annotateKey(means("The name of the branch, unique in the project.", "main")),
  current_state: BranchState,
  pending_state: Schema.NullOr(BranchState),
  default: Schema.Boolean.annotateKey(means("Whether it is the default one.", true)),
  protected: Schema.Boolean.annotateKey(means("Whether the branch is protected from deletion and reset.", false)),
  expires_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotateKey(
    means("When the branch and everything in it is deleted; `null`: never.", null)
  ),
  created_at: Schema.DateTimeUtcFromString,
  updated_at: Schema.DateTimeUtcFromString,
  created_by: Schema.NullOr(UserRef)
}

/** A branch as it is stored. */
export class Branch extends Schema.Class<Branch>("Branch")({
  ...fields,
  /** Whether an agent key created it. Agent keys may reset, change and delete only such branches. */
  made_by_agent: Schema.Boolean,
  /** The key that created it; `null`: a session, or a version that did not record it. */
  made_by_key_id: Schema.NullOr(ApiKeyId)
}) {
  get main(): boolean {
    return this.default || this.protected
  }
}

/** Why all credentials of a branch only read now: its organization holds more disk than its quota. */
export const ReadOnlyReason = Schema.Literals(["disk_quota"])
export type ReadOnlyReason = typeof ReadOnlyReason.Type

/**
 * How much disk a branch takes, as its machine measured last, and what follows from it. It is not part of the branch
 * (docs/design/api.md A22). `null`: its data has not been measured, or is being made or replaced.
 */
export interface BranchSize {
  readonly branch_id: BranchId
  readonly size_bytes: number | null
  readonly size_measured_at: DateTime.Utc | null
  readonly read_only_reason: ReadOnlyReason | null
}

/** A branch as the API shows it. */
export class BranchView extends Schema.Class<BranchView>("BranchView")({
  ...fields,
  size_bytes: Schema.NullOr(Schema.Int),
  size_measured_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  read_only_reason: Schema.NullOr(ReadOnlyReason)
}) {}

export type BranchSizesById = ReadonlyMap<BranchId, BranchSize>

/** The size of former data says nothing about the data that replaces it. */
export const viewBranch = (branch: Branch, sizes: BranchSizesById = new Map()): BranchView => {
  const { made_by_agent: _, made_by_key_id: __, ...shown } = branch
  const changing = branch.current_state === "init" || branch.current_state === "resetting"
  const { read_only_reason = null, size_bytes = null, size_measured_at = null } = sizes.get(branch.id) ?? {}
  const size = changing ? { size_bytes: null, size_measured_at: null } : { size_bytes, size_measured_at }
  return new BranchView({ ...shown, ...size, read_only_reason })
}

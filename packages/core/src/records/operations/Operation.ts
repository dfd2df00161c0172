/**
 * An operation: the record of work on a project that takes time.
 *
 * `scheduling → running → finished | failed | error`, or `scheduling → skipped`. Retries stay inside `running`, so a
 * final status never changes (docs/design/api.md, Projects, branches, endpoints, operations). `failed` was retried to
 * the end; `error` could not be retried. A cancelled operation goes from `scheduling` to `cancelled` at once, and from
 * `running` through `cancelling`, which lasts until a runner has ended its work.
 */
import { Schema } from "effect"
import { BranchId, EndpointId, OperationId, OrgId, ProjectId, RegionId } from "../../Ids.ts"
import { exampleIds as ids, means } from "../../means.ts"

export const OperationAction = Schema.Literals([
  "create_timeline",
  "create_branch",
  "delete_timeline",
  "reset_branch",
  "create_compute",
  "start_compute",
  "suspend_compute",
  "apply_config",
  "delete_compute"
])
export type OperationAction = typeof OperationAction.Type

export const OperationStatus = Schema.Literals([
  "scheduling",
  "running",
  "finished",
  "failed",
  "error",
  "cancelling",
  "cancelled",
  "skipped"
])
export type OperationStatus = typeof OperationStatus.Type

const next: Record<OperationStatus, ReadonlyArray<OperationStatus>> = {
  scheduling: ["running", "skipped", "cancelled"],
  running: ["finished", "failed", "error", "cancelling"],
  cancelling: ["cancelled", "finished", "failed", "error"],
  finished: [],
  failed: [],
  error: [],
  cancelled: [],
  skipped: []
}

/** Whether an operation in `from` may move to `to`. */
export const mayMove = (from: OperationStatus, to: OperationStatus): boolean => next[from].includes(to)

/** Whether the operation has ended in this status. */
export const isFinal = (status: OperationStatus): boolean => next[status].length === 0

/**
 * The user, API key, proxy or system that requested an operation. `id` and `name` are `null` for proxies and the
 * system.
 */
export class Initiator extends Schema.Class<Initiator>("Initiator")({
  type: Schema.Literals(["user", "api_key", "proxy", "system"]),
  id: Schema.NullOr(Schema.String).annotateKey(
    means("The id of the person or of the API key; `null`: neither.", ids.user)
  ),
  name: Schema.NullOr(Schema.String).annotateKey(means("The person's name; `null`: not known.", "Ada Lovelace"))
}) {}

const fields = {
  id: OperationId.annotateKey(means("The id of the operation.", ids.operation)),
  project_id: ProjectId,
  branch_id: Schema.NullOr(BranchId).annotateKey(means("The branch that it works on; `null`: none.", ids.branch)),
  endpoint_id: Schema.NullOr(EndpointId).annotateKey(
    means("The endpoint that it works on; `null`: none.", ids.endpoint)
  ),
  action: OperationAction,
  status: OperationStatus,
  error: Schema.NullOr(Schema.String).annotateKey(means("Why it failed, as a sentence; `null`: it did not.", null)),
  failures_count: Schema.Int.annotateKey(means("How many tries have failed so far.", 0)),
  retry_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotateKey(
    means("When it is tried again; `null`: no try is waiting.", null)
  ),
  initiator: Initiator,
  created_at: Schema.DateTimeUtcFromString,
  updated_at: Schema.DateTimeUtcFromString,
  started_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  finished_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotateKey(
    means("When it reached a final status; `null`: not yet.", null)
  )
}

/** An operation as the API shows it. */
export class Operation extends Schema.Class<Operation>("Operation")(fields) {}

/** An operation as it is stored: with its organization, its region and its lease. */
export class StoredOperation extends Schema.Class<StoredOperation>("StoredOperation")({
  ...fields,
  org_id: OrgId,
  /** The region of its project, whose runners perform it. */
  region_id: RegionId,
  /** The branch whose data it copies; `null`: it copies none. */
  copies: Schema.NullOr(BranchId),
  /** The worker that performs it, and until when. After that another worker may claim it. */
  lease_owner: Schema.NullOr(Schema.String),
  lease_until: Schema.NullOr(Schema.DateTimeUtcFromString),
  /** The number of its latest claim, which grows over all claims of all operations; 0 before the first. */
  fence: Schema.Int,
  /** When the machines first had no room for it; `null`: there was room so far. */
  busy_since: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {
  get view(): Operation {
    const {
      busy_since: _since,
      copies: _copies,
      fence: _fence,
      lease_owner: _owner,
      lease_until: _until,
      org_id: _org,
      region_id: _region,
      ...shown
    } = this
    return new Operation(shown)
  }
}

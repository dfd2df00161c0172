/** An endpoint: the host name that clients connect to, and the compute behind it that suspends and wakes. */
import { Schema } from "effect"
import { BranchId, EndpointId, ProjectId, RegionId } from "../Ids.ts"

export const EndpointState = Schema.Literals(["init", "active", "idle"])
export type EndpointState = typeof EndpointState.Type
export const EndpointType = Schema.Literals(["read_write", "read_only"])
export type EndpointType = typeof EndpointType.Type

/** Seconds without activity until a compute is suspended; -1: never. */
export const SuspendTimeout = Schema.Int.check(
  Schema.makeFilter((seconds) => seconds === -1 || (seconds >= 1 && seconds <= 604_800) || "-1, or 1 to 604800 seconds")
)
export const defaultSuspendTimeout = 300

const fields = {
  id: EndpointId,
  project_id: ProjectId,
  branch_id: BranchId,
  region_id: RegionId,
  type: EndpointType,
  current_state: EndpointState,
  pending_state: Schema.NullOr(EndpointState),
  disabled: Schema.Boolean,
  suspend_timeout_seconds: SuspendTimeout,
  last_active_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  started_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  suspended_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  created_at: Schema.DateTimeUtcFromString,
  updated_at: Schema.DateTimeUtcFromString
}

/** An endpoint as it is stored. `address` is where its compute listens while it runs; it grows stale with `generation`. */
export class Endpoint extends Schema.Class<Endpoint>("Endpoint")({
  ...fields,
  generation: Schema.Int,
  address: Schema.NullOr(Schema.String),
  /** Client connections, as the proxies reported last. */
  connections: Schema.Int
}) {
  get running(): boolean {
    return this.current_state === "active" && this.pending_state === null
  }
}

/** The members of an endpoint whose compute does not run. */
export const withoutCompute = { current_state: "idle", address: null, connections: 0 } as const

/** An endpoint as the API shows it: where its compute runs is the proxy's business alone. */
export class EndpointView extends Schema.Class<EndpointView>("EndpointView")({
  ...fields,
  host: Schema.String,
  port: Schema.Int
}) {}

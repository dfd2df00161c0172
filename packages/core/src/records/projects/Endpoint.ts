/** An endpoint: the host name that clients connect to, and the compute behind it that suspends and wakes. */
import { type DateTime, Schema } from "effect"
import { BranchId, EndpointId, ProjectId, RegionId } from "../../Ids.ts"
import { exampleTimes as at, exampleIds as ids, means } from "../../means.ts"
import type { Branch } from "./Branch.ts"
import { EndpointSize } from "./EndpointSize.ts"

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
  id: EndpointId.annotateKey(means("The id of the endpoint, which is part of its host name.", ids.endpoint)),
  project_id: ProjectId,
  branch_id: BranchId,
  region_id: RegionId,
  type: EndpointType,
  current_state: EndpointState,
  pending_state: Schema.NullOr(EndpointState),
  disabled: Schema.Boolean.annotateKey(means("Whether connections are refused.", false)),
  suspend_timeout_seconds: SuspendTimeout,
  size: Schema.NullOr(EndpointSize).annotateKey(
    means("The CPU, memory and disk that its compute may take; `null`: no limits.")
  ),
  last_active_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotateKey(
    means("When a client was active last; `null`: never.", at.updated)
  ),
  started_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotateKey(
    means("When the compute started last; `null`: never.", at.updated)
  ),
  suspended_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotateKey(
    means("When the compute was suspended last; `null`: never, or it runs.", null)
  ),
  created_at: Schema.DateTimeUtcFromString,
  updated_at: Schema.DateTimeUtcFromString
}

/** How proxies reach a compute, in addition to its address, and who checks what its clients prove. */
export const ComputeReach = Schema.Struct({
  /**
   * TLS, verified against the PEM text `ca` or, where that is `null`, the system's authorities; `null`: none. The server's
   * certificate has `server_name`, or where that is left out the host of the address.
   */
  tls: Schema.NullOr(
    Schema.Struct({ ca: Schema.NullOr(Schema.String), server_name: Schema.optionalKey(Schema.String) })
  ),
  /** Whether clients log in with roles that were not minted, which the server itself checks. */
  own_roles: Schema.Boolean
})
export type ComputeReach = typeof ComputeReach.Type

/** An endpoint as it is stored. */
export class Endpoint extends Schema.Class<Endpoint>("Endpoint")({
  ...fields,
  /** Grows with every start of the compute. An address of an earlier generation must not be used. */
  generation: Schema.Int,
  /** Where the compute of this generation listens; `null` while none runs. */
  address: Schema.NullOr(Schema.String),
  /** How the latest compute is reached; `null`: over a Unix socket, with minted roles. */
  reach: Schema.NullOr(ComputeReach),
  /** Client connections, as the proxies reported last. */
  connections: Schema.Int,
  /** Whether `size` was changed since the last start began: a compute that runs has the former one. */
  resized: Schema.Boolean
}) {
  /** Whether the compute runs, with no unfinished operation that changes it. */
  get running(): boolean {
    return this.current_state === "active" && this.pending_state === null
  }
}

/** An endpoint of a branch at its creation: suspended, and `init` until its branch is ready. */
export const newEndpoint = (
  branch: Branch,
  {
    id,
    now,
    size,
    suspend_timeout_seconds = defaultSuspendTimeout,
    type
  }: Pick<Endpoint, "id" | "size" | "type"> & { readonly now: DateTime.Utc; readonly suspend_timeout_seconds?: number }
): Endpoint =>
  new Endpoint({
    id,
    project_id: branch.project_id,
    branch_id: branch.id,
    region_id: branch.region_id,
    type,
    current_state: "init",
    pending_state: "idle",
    disabled: false,
    suspend_timeout_seconds,
    size,
    last_active_at: null,
    started_at: null,
    suspended_at: null,
    created_at: now,
    updated_at: now,
    generation: 0,
    address: null,
    reach: null,
    connections: 0,
    resized: false
  })

/** The members of an endpoint whose compute does not run. */
export const withoutCompute = { current_state: "idle", address: null, connections: 0 } as const

/** An endpoint as the API shows it. The compute's address is for proxies only. */
export class EndpointView extends Schema.Class<EndpointView>("EndpointView")({
  ...fields,
  host: Schema.String.annotateKey(
    means("The host name for Postgres clients.", `${ids.endpoint}.eu-central.narthex.example`)
  ),
  port: Schema.Int.annotateKey(means("The port for Postgres clients.", 5432)),
  /** A connection string with `{role}` and `{password}` in place of a credential (docs/design/api.md A24). */
  connection_template: Schema.String
}) {}

/**
 * Port: the machines that run Postgres. A branch has one cluster, an endpoint one compute.
 *
 * Every method is idempotent: it describes a state to reach, because a step that a crash interrupted is run again. The
 * driver decides nothing; the operation runner does.
 *
 * Pitfall: using an address without its generation. A compute that was stopped and started again is a different one,
 * and a stale address could reach another tenant's database.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { BranchId, EndpointId } from "../../Ids.ts"
import type { ComputeReach } from "../projects/Endpoint.ts"
import type { EndpointSize } from "../projects/EndpointSize.ts"

/**
 * The wanted state was not reached. `reason` is a sentence for API users: it names no path and quotes no server output.
 * `detail` is the machine's own message, for the operator's log. `retryable` is false when a retry cannot help. `busy`:
 * the machine has no room for the work now, for example no free slot for a copy. Work that waits for room has not
 * failed.
 */
export class ComputeFailed extends Schema.TaggedError<ComputeFailed>()("ComputeFailed", {
  reason: Schema.String,
  detail: Schema.optionalKey(Schema.String),
  retryable: Schema.Boolean,
  busy: Schema.optionalKey(Schema.Boolean)
}) {
  override get message() {
    return this.reason
  }
}

/** A Postgres role of a branch. The control plane stores its verifier, never its password. */
export interface ComputeRole {
  readonly role: string
  /** `SCRAM-SHA-256$…`, as Postgres stores it (RFC 5803). */
  readonly verifier: string
  readonly access: "read_write" | "read_only"
  readonly expires_at: Option.Option<DateTime.Utc>
}

export interface Compute {
  readonly endpoint_id: EndpointId
  readonly branch_id: BranchId
  readonly generation: number
  /** An absolute path is a unix socket; anything else is `host:port`. */
  readonly address: string
  /** Left out or `null`: a Unix socket, and the roles are those that were minted. */
  readonly reach?: ComputeReach | null
}

/** How much disk the data of a branch takes. */
export interface BranchDiskUsage {
  readonly branch_id: BranchId
  readonly bytes: number
}

export interface ComputeStart {
  readonly endpoint_id: EndpointId
  readonly branch_id: BranchId
  /** Grows with every start of the endpoint and is part of the address. */
  readonly generation: number
  /**
   * Every role of the branch that is valid now. Before the first connection, missing roles are created, others dropped.
   */
  readonly roles: ReadonlyArray<ComputeRole>
  /** The limits of CPU and memory, and the disk of a compute that has one of its own. Left out or `null`: no limits. */
  readonly size?: EndpointSize | null
}

export class ComputeDriver extends Context.Service<
  ComputeDriver,
  {
    /**
     * Creates the branch's cluster: empty, or a copy of the parent as it is now, running or not. No-op if it exists.
     */
    readonly createBranch: (branch: BranchId, parent: Option.Option<BranchId>) => Effect.Effect<void, ComputeFailed>
    /** Stops the branch's computes and replaces its data by a copy of the parent as it is now. */
    readonly resetBranch: (branch: BranchId, parent: BranchId) => Effect.Effect<void, ComputeFailed>
    /** Stops the branch's computes and removes its data. No-op if there is none. */
    readonly deleteBranch: (branch: BranchId) => Effect.Effect<void, ComputeFailed>
    /**
     * Starts the endpoint's compute with this size, unless it runs in this generation, and returns once it accepts
     * connections. A compute of an earlier generation is stopped before: that is how a size changes.
     */
    readonly start: (start: ComputeStart) => Effect.Effect<Compute, ComputeFailed>
    /** Stops the endpoint's compute and returns once it is down. No-op if it does not run. */
    readonly stop: (endpoint: EndpointId) => Effect.Effect<void, ComputeFailed>
    /** Creates and drops roles of a running branch to match, and ends sessions of dropped roles. No-op if suspended. */
    readonly applyRoles: (branch: BranchId, roles: ReadonlyArray<ComputeRole>) => Effect.Effect<void, ComputeFailed>
    /**
     * Whether `applyRoles` with this list would change the running Postgres of the branch: other roles than those of
     * the list, or rights that a session has made since. False if it does not run here: the next start applies its list.
     */
    readonly needsRoles: (branch: BranchId, roles: ReadonlyArray<ComputeRole>) => Effect.Effect<boolean, ComputeFailed>
    /** Every compute that runs now, including those that an earlier process started. */
    readonly running: Effect.Effect<ReadonlyArray<Compute>, ComputeFailed>
    /**
     * The disk that each branch on these machines takes. A branch that cannot be measured is left out. Starts nothing.
     * May take seconds, so it is not for requests.
     */
    readonly diskUsage: Effect.Effect<ReadonlyArray<BranchDiskUsage>, ComputeFailed>
  }
>()("@narthex/core/records/computes/ComputeDriver") {}

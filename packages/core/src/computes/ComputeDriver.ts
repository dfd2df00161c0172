/**
 * Port: the machines that run Postgres. One cluster a branch, one compute an endpoint.
 *
 * Every call may be repeated: a step that was interrupted by a crash is simply run again, so each method describes a
 * state to reach, not a change to make. Nothing here decides; the operation runner does.
 *
 * Pitfall: using an address without its generation. A compute that was stopped and started is another one, and a stale
 * address must never reach a different tenant's database.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { BranchId, EndpointId } from "../Ids.ts"

/** The compute could not reach the wanted state. `retryable` is false when trying again cannot help. */
export class ComputeFailed extends Schema.TaggedError<ComputeFailed>()("ComputeFailed", {
  reason: Schema.String,
  retryable: Schema.Boolean
}) {
  override get message() {
    return this.reason
  }
}

/** A Postgres role that connections of the branch may use. The control plane keeps its verifier, never its password. */
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
}

export interface ComputeStart {
  readonly endpoint_id: EndpointId
  readonly branch_id: BranchId
  /** Grows with every start of the endpoint and is part of the address. */
  readonly generation: number
  /** Every role of the branch that is valid now: those missing are made and those too many dropped before the first connection. */
  readonly roles: ReadonlyArray<ComputeRole>
}

export class ComputeDriver extends Context.Service<
  ComputeDriver,
  {
    /** Makes the branch's cluster: empty, or a copy of the parent as it is now, running or not. There already: nothing. */
    readonly createBranch: (branch: BranchId, parent: Option.Option<BranchId>) => Effect.Effect<void, ComputeFailed>
    /** Replaces the branch's data by a copy of the parent. Its computes are stopped first. */
    readonly resetBranch: (branch: BranchId, parent: BranchId) => Effect.Effect<void, ComputeFailed>
    /** Stops what runs on the branch and removes its data. Gone already: nothing. */
    readonly deleteBranch: (branch: BranchId) => Effect.Effect<void, ComputeFailed>
    /** Runs the endpoint's compute and answers once it accepts connections. Runs already in this generation: its address. */
    readonly start: (start: ComputeStart) => Effect.Effect<Compute, ComputeFailed>
    /** Stops the endpoint's compute and answers once it is down. Not running: nothing. */
    readonly stop: (endpoint: EndpointId) => Effect.Effect<void, ComputeFailed>
    /** Brings the roles of a running branch to this list and ends the sessions of roles that are gone. Not running: nothing. */
    readonly applyRoles: (branch: BranchId, roles: ReadonlyArray<ComputeRole>) => Effect.Effect<void, ComputeFailed>
    /** What runs now, also what an earlier process left running. */
    readonly running: Effect.Effect<ReadonlyArray<Compute>, ComputeFailed>
  }
>()("@narthex/core/computes/ComputeDriver") {}

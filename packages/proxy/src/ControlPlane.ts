/**
 * Port: what the proxy asks of the control plane. In one process it is a layer over the core, elsewhere
 * `HttpControlPlane`.
 *
 * Pitfall: calling `wake` with an address. It takes an `Admitted`, which only the allowlist check makes, so that no
 * code path can wake a compute for a client that is not listed.
 */
import { Context, type DateTime, type Effect, Schema, type Scope, type Stream } from "effect"
import { BranchId, EndpointId, ProjectId, RegionId } from "@narthex/core"
import type { Admitted } from "./allowlist/admit.ts"

/** Where an endpoint is. `address` and `generation` are null while it does not run. */
export class ResolvedEndpoint extends Schema.Class<ResolvedEndpoint>("ResolvedEndpoint")({
  endpoint_id: EndpointId,
  project_id: ProjectId,
  branch_id: BranchId,
  region_id: RegionId,
  disabled: Schema.Boolean,
  current_state: Schema.String,
  address: Schema.NullOr(Schema.String),
  generation: Schema.NullOr(Schema.Int)
}) {}

/** A compute that runs. An absolute path is a unix socket, anything else is `host:port`. */
export class RunningCompute extends Schema.Class<RunningCompute>("RunningCompute")({
  address: Schema.NonEmptyString,
  generation: Schema.Int
}) {}

/**
 * A project's rules as they were at `server_now`. `version` only rises. Rules stay text here: one that cannot be
 * read must cost that rule alone, not the whole list.
 */
export class AllowlistSnapshot extends Schema.Class<AllowlistSnapshot>("AllowlistSnapshot")({
  project_id: ProjectId,
  version: Schema.Int,
  rules: Schema.Array(Schema.Struct({ cidr: Schema.String, expires_at: Schema.NullOr(Schema.String) })),
  server_now: Schema.String
}) {}

/** A hint that a project's rules changed. */
export class AllowlistChange extends Schema.Class<AllowlistChange>("AllowlistChange")({
  project_id: ProjectId,
  version: Schema.Int
}) {}

export interface EndpointActivity {
  readonly endpoint_id: EndpointId
  readonly generation: number
  readonly connections: number
  readonly last_active_at: DateTime.Utc
}

export class EndpointUnknown extends Schema.TaggedError<EndpointUnknown>()("EndpointUnknown", {
  endpoint_id: EndpointId
}) {}

export class EndpointDisabled extends Schema.TaggedError<EndpointDisabled>()("EndpointDisabled", {
  endpoint_id: EndpointId
}) {}

/** The client's address is not on the project's list, by the list as it is stored now. */
export class AddressNotListed extends Schema.TaggedError<AddressNotListed>()("AddressNotListed", {
  endpoint_id: EndpointId,
  client_address: Schema.String
}) {}

/** The compute did not run in time. Trying again may help. */
export class WakeTimedOut extends Schema.TaggedError<WakeTimedOut>()("WakeTimedOut", {
  endpoint_id: EndpointId
}) {}

/** No answer, or none that can be understood. `reason` is for operators. */
export class ControlPlaneUnreachable extends Schema.TaggedError<ControlPlaneUnreachable>()("ControlPlaneUnreachable", {
  operation: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The control plane did not answer ${this.operation}: ${this.reason}`
  }
}

export class ControlPlane extends Context.Service<
  ControlPlane,
  {
    readonly resolve: (
      endpoint_id: EndpointId
    ) => Effect.Effect<ResolvedEndpoint, EndpointUnknown | ControlPlaneUnreachable>

    /** The lists of at most 1,000 projects. A project that is gone is left out. */
    readonly allowlists: (
      project_ids: ReadonlyArray<ProjectId>
    ) => Effect.Effect<ReadonlyArray<AllowlistSnapshot>, ControlPlaneUnreachable>

    /**
     * Subscribes to changes. From the moment the effect returns, every change is in the stream; what changed before
     * is not, so ask for the snapshots after subscribing. The end of the stream is the end of the subscription.
     */
    readonly changes: Effect.Effect<
      Stream.Stream<AllowlistChange, ControlPlaneUnreachable>,
      ControlPlaneUnreachable,
      Scope.Scope
    >

    /**
     * Runs the endpoint's compute; answers once it accepts connections, or after 30 s that it does not. Checks
     * `client_address` against the stored list in the waking transaction. Many calls at once are one start.
     */
    readonly wake: (
      admitted: Admitted
    ) => Effect.Effect<
      RunningCompute,
      EndpointUnknown | EndpointDisabled | AddressNotListed | WakeTimedOut | ControlPlaneUnreachable
    >

    /** What suspends idle computes. A report that fails is sent again with the next one. */
    readonly activity: (reports: ReadonlyArray<EndpointActivity>) => Effect.Effect<void, ControlPlaneUnreachable>
  }
>()("@narthex/proxy/ControlPlane") {}

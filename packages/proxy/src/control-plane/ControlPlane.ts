/**
 * Port: what the proxy asks of the control plane. In one process it is a layer over the core, elsewhere
 * `HttpControlPlane`.
 *
 * Pitfall: calling `wake` with an address. It takes an `Admitted`, which only the allowlist check makes, so that no
 * code path can wake a compute for a client that is not listed.
 */
import { Context, Data, type Effect, type Scope, type Stream } from "effect"
import type {
  AllowlistChange,
  AllowlistSnapshot,
  EndpointActivity,
  ResolvedEndpoint,
  RunningCompute
} from "@narthex/api"
import type { EndpointId, ProjectId } from "@narthex/core"
import type { Admitted } from "../allowlist/checkAllowlist.ts"

export class EndpointUnknown extends Data.TaggedError("EndpointUnknown")<{ readonly endpoint_id: EndpointId }> {}

export class EndpointDisabled extends Data.TaggedError("EndpointDisabled")<{ readonly endpoint_id: EndpointId }> {}

/** The client's address is not on the project's list, by the list as it is stored now. */
export class AddressNotListed extends Data.TaggedError("AddressNotListed")<{
  readonly endpoint_id: EndpointId
  readonly client_address: string
}> {}

/** The compute did not run in time. Trying again may help. */
export class WakeTimedOut extends Data.TaggedError("WakeTimedOut")<{ readonly endpoint_id: EndpointId }> {}

/** No answer, or none that can be understood. `reason` is for operators. */
export class ControlPlaneUnreachable extends Data.TaggedError("ControlPlaneUnreachable")<{
  readonly operation: string
  readonly reason: string
}> {
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

    /** The lists of at most `maxAllowlists` projects. A project that is gone is left out. */
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

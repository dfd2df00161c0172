/**
 * Port: the calls of the proxy to the control plane, in the shapes of `ProxyApi` (`@narthex/api`). `HttpControlPlane`
 * is its adapter.
 *
 * Pitfall: letting `wake` take an address. It takes an `Admitted`, which only the allowlist check makes, so that no
 * code path can wake a compute for a client that is not listed.
 */
import type {
  ActivityPayload,
  AllowlistChange,
  AllowlistSnapshot,
  EndpointChange,
  RefusalsPayload,
  ResolvedEndpoint,
  RunningCompute
} from "@narthex/api"
import type { CancelNotice, EndpointId, ProjectId } from "@narthex/core"
import { Context, Data, type Effect, type Scope, type Stream } from "effect"
import type { Admitted } from "../allowlist/checkAllowlist.ts"

/** The endpoint does not exist. */
export class EndpointUnknown extends Data.TaggedError("EndpointUnknown")<{ readonly endpoint_id: EndpointId }> {}

/** The endpoint is disabled, so it cannot be woken. */
export class EndpointDisabled extends Data.TaggedError("EndpointDisabled")<{ readonly endpoint_id: EndpointId }> {}

/** The organization runs as many computes as its quota allows. */
export class TooManyComputes extends Data.TaggedError("TooManyComputes")<{ readonly endpoint_id: EndpointId }> {}

/** The stored allowlist does not cover the client's address. */
export class AddressNotListed extends Data.TaggedError("AddressNotListed")<{
  readonly endpoint_id: EndpointId
  readonly client_address: string
}> {}

/** The compute did not start in time. A retry may succeed. */
export class WakeTimedOut extends Data.TaggedError("WakeTimedOut")<{ readonly endpoint_id: EndpointId }> {}

/** The control plane does not take this report: it is of an older version, or finds the report malformed. */
export class ReportRejected extends Data.TaggedError("ReportRejected")<{ readonly status: number }> {
  override get message() {
    return `The control plane does not take the report (status ${this.status}).`
  }
}

/** There was no answer, or not an expected one. `reason` is for operators. */
export class ControlPlaneUnreachable extends Data.TaggedError("ControlPlaneUnreachable")<{
  readonly operation: string
  readonly reason: string
}> {
  override get message() {
    return `The call ${this.operation} to the control plane failed: ${this.reason}`
  }
}

/**
 * A change: of the allowlist of a project, or of an endpoint that was disabled, suspended or deleted. `cancel`: a
 * cancel request has reached a proxy that does not have the session.
 */
export type Change =
  | { readonly of: "allowlist"; readonly change: AllowlistChange }
  | { readonly of: "endpoint"; readonly change: EndpointChange }
  | { readonly of: "cancel"; readonly change: CancelNotice }

export class ControlPlane extends Context.Service<
  ControlPlane,
  {
    /**
     * Where the endpoint is, and the verifier of a role of its branch: `null` if the role is unknown, has expired or was
     * revoked.
     */
    readonly resolve: (
      endpoint_id: EndpointId,
      role: string | undefined
    ) => Effect.Effect<ResolvedEndpoint, EndpointUnknown | ControlPlaneUnreachable>

    /** The allowlists of at most `maxAllowlists` projects. Deleted projects are omitted. */
    readonly allowlists: (
      project_ids: ReadonlyArray<ProjectId>
    ) => Effect.Effect<ReadonlyArray<AllowlistSnapshot>, ControlPlaneUnreachable>

    /**
     * Subscribes to changes. The stream contains every change after the effect has returned and none from before, so
     * what is known is requested again after subscribing. The stream ends or fails when the subscription is lost. A
     * control plane of an older version sends no changes of endpoints.
     */
    readonly changes: Effect.Effect<
      Stream.Stream<Change, ControlPlaneUnreachable>,
      ControlPlaneUnreachable,
      Scope.Scope
    >

    /**
     * Starts the endpoint's compute and returns when it accepts connections; fails with `WakeTimedOut` after 30 s.
     * Checks `client_address` against the stored list in the transaction that wakes. Concurrent calls share one start.
     * `unreachable` is the generation of a compute that could not be connected to: whether it runs is verified first.
     */
    readonly wake: (
      admitted: Admitted,
      unreachable?: number
    ) => Effect.Effect<
      RunningCompute,
      EndpointUnknown | EndpointDisabled | AddressNotListed | TooManyComputes | WakeTimedOut | ControlPlaneUnreachable
    >

    /**
     * Reports the use of at most `maxActivities` computes, by which the control plane suspends idle ones. Idempotent.
     */
    readonly activity: (report: ActivityPayload) => Effect.Effect<void, ControlPlaneUnreachable>

    /** Hands a cancel request to the proxy that has its session. Best effort. */
    readonly cancel: (notice: CancelNotice) => Effect.Effect<void, ControlPlaneUnreachable>

    /**
     * Reports at most `maxRefusals` clients that the allowlist refused. A report that is repeated with its number counts
     * once. `ReportRejected`: repeating it is of no use.
     */
    readonly refusals: (report: RefusalsPayload) => Effect.Effect<void, ReportRejected | ControlPlaneUnreachable>
  }
>()("@narthex/proxy/ControlPlane") {}

/**
 * The endpoints of proxies (docs/design/proxy.md P9). A proxy token is valid for these calls and no others.
 *
 * The stream of changes has frames with the event `change`, whose data is the core's `AllowlistChange`, and with the
 * event `endpoint`, whose data is its `EndpointChange`; one with the event `cancel` has a `CancelNotice`.
 */
import {
  BranchId,
  CancelNotice,
  ComputeReach,
  EndpointId,
  EndpointType,
  OrgId,
  ProjectId,
  proxyOnly,
  RegionId
} from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AddressNotListedProblem,
  ConflictProblem,
  NotFoundProblem,
  QuotaExceededProblem,
  UnavailableProblem
} from "../problems/Problems.ts"
import { ProxyAuthentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { streamAnswer } from "../schemas/texts.ts"
import { EventStream } from "./EventsApi.ts"

const AnyEndpointId: Schema.Codec<EndpointId, string> = Schema.String.pipe(Schema.brand("EndpointId"))

/** How a compute is reached (`ComputeReach` of the core). Control planes of an older version do not say it. */
const ComputeReached = {
  tls: Schema.optionalKey(ComputeReach.fields.tls),
  own_roles: Schema.optionalKey(Schema.Boolean)
}

/**
 * Where an endpoint is. `address` and `generation` are `null` while its compute does not run. Control planes of an
 * older version send no `org_id` and no `type`. `verifier` is that of the role that was asked for, if it is valid now.
 * `read_only_reason` is there with it: why the role only reads now.
 */
export const ResolvedEndpoint = Schema.Struct({
  endpoint_id: EndpointId,
  org_id: Schema.optionalKey(OrgId),
  project_id: ProjectId,
  branch_id: BranchId,
  region_id: RegionId,
  type: Schema.optionalKey(EndpointType),
  disabled: Schema.Boolean,
  current_state: Schema.String,
  address: Schema.NullOr(Schema.String),
  generation: Schema.NullOr(Schema.Int),
  ...ComputeReached,
  verifier: Schema.optionalKey(Schema.NullOr(Schema.String)),
  read_only_reason: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export type ResolvedEndpoint = typeof ResolvedEndpoint.Type

/**
 * A project's rules at `server_now`. An older version never replaces a newer one.
 *
 * Networks and instants (ISO 8601) stay text: a rule that a proxy cannot read invalidates that rule, not the snapshot,
 * and a snapshot that it cannot read does not invalidate those of other projects.
 */
export const AllowlistSnapshot = Schema.Struct({
  project_id: ProjectId,
  version: Schema.Int,
  rules: Schema.Array(Schema.Struct({ cidr: Schema.String, expires_at: Schema.NullOr(Schema.String) })),
  server_now: Schema.String
})
export type AllowlistSnapshot = typeof AllowlistSnapshot.Type

/** A compute that runs. An absolute path is a Unix socket, anything else is `host:port`. */
export const RunningCompute = Schema.Struct({ address: Schema.String, generation: Schema.Int, ...ComputeReached })
export type RunningCompute = typeof RunningCompute.Type

const ProxyId = Schema.String.check(Schema.isPattern(/^[0-9a-z-]{1,64}$/))
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * The use of a compute, as a proxy sees it. `connections` are authenticated sessions, `busy` those of them in a
 * transaction, a query or a copy. `idle_ms` is the time since the last activity by the proxy's monotonic clock.
 * `last_active_at` is for control planes of an older version, which read nothing else.
 */
export const EndpointActivity = Schema.Struct({
  endpoint_id: AnyEndpointId,
  generation: Schema.Int,
  connections: Count,
  busy: Schema.optionalKey(Count),
  idle_ms: Schema.optionalKey(Count),
  last_active_at: Schema.optionalKey(Schema.DateTimeUtcFromString)
})
export type EndpointActivity = typeof EndpointActivity.Type

/** `unreachable` is the generation of a compute that the proxy could not connect to. */
export const WakePayload = Schema.Struct({
  client_address: Schema.String,
  unreachable: Schema.optionalKey(Schema.Int)
})

/** The maximum number of endpoints per call of a proxy. */
export const maxActivities = 200

/**
 * `proxy_id` is unique to a process of a proxy, and `sequence` grows with its calls: a call that arrives late changes
 * nothing. Proxies of an older version send neither, nor `busy` and `idle_ms`.
 */
export const ActivityPayload = Schema.Struct({
  proxy_id: Schema.optionalKey(ProxyId),
  sequence: Schema.optionalKey(Count),
  endpoints: Schema.Array(EndpointActivity)
})
export type ActivityPayload = typeof ActivityPayload.Type

/** The maximum number of refusals per call of a proxy. */
export const maxRefusals = 200

/**
 * The clients that the allowlist refused since the last report, one entry for each address and endpoint. `first_ms` and
 * `last_ms` are the ages of the first and the last refusal by the proxy's monotonic clock. Entries with a reason that
 * this version does not know are not recorded.
 */
export const RefusalsPayload = Schema.Struct({
  proxy_id: ProxyId,
  sequence: Count,
  refusals: Schema.Array(
    Schema.Struct({
      endpoint_id: AnyEndpointId,
      address: Schema.String,
      role: Schema.optionalKey(Schema.String),
      reason: Schema.String,
      count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000_000 })),
      first_ms: Count,
      last_ms: Count
    })
  ).check(Schema.isMaxLength(maxRefusals))
})
export type RefusalsPayload = typeof RefusalsPayload.Type

/** The maximum number of projects per call. */
export const maxAllowlists = 1000

export class ProxyApi extends HttpApiGroup.make("proxy")
  .add(
    HttpApiEndpoint.post("resolve", "/v1/proxy/resolve", {
      payload: Schema.Struct({ endpoint_id: AnyEndpointId, role: Schema.optionalKey(Schema.String) }),
      success: ResolvedEndpoint,
      error: NotFoundProblem
    }).annotateMerge(
      endpointRules(proxyOnly, {
        summary: "Resolve an endpoint and a role",
        text: "Finds the endpoint that a client names, and the verifier of a role, by which the proxy authenticates the client.",
        answer: "Where the endpoint is, and the verifier if the role is valid."
      })
    ),
    HttpApiEndpoint.post("allowlists", "/v1/proxy/allowlists", {
      payload: Schema.Struct({
        project_ids: Schema.Array(Schema.String.pipe(Schema.brand("ProjectId"))).check(
          Schema.isMaxLength(maxAllowlists)
        )
      }),
      success: Schema.Struct({ allowlists: Schema.Array(AllowlistSnapshot) })
    }).annotateMerge(
      endpointRules(proxyOnly, {
        summary: "List the allowlists of projects; projects that do not exist are left out",
        text: "The rules of at most 1,000 projects.",
        answer: "The lists; projects that do not exist are left out."
      })
    ),
    HttpApiEndpoint.get("changes", "/v1/proxy/changes", { success: EventStream }).annotateMerge(
      endpointRules(proxyOnly, {
        summary: "Stream the changes of allowlists and endpoints",
        text: "One frame `change` for each changed allowlist, one frame `endpoint` for each endpoint that was disabled, suspended, deleted or started again for its size, and one frame `cancel` for each cancel request that a proxy hands over. A change is a hint: after a reconnect the proxy reads its lists and endpoints again.",
        answer: streamAnswer,
        streamsEvents: true
      })
    ),
    HttpApiEndpoint.post("wake", "/v1/proxy/endpoints/:endpoint_id/wake", {
      params: { endpoint_id: EndpointId },
      payload: WakePayload,
      success: RunningCompute,
      error: [AddressNotListedProblem, ConflictProblem, NotFoundProblem, QuotaExceededProblem, UnavailableProblem]
    }).annotateMerge(
      endpointRules(proxyOnly, {
        summary: "Start the compute of an endpoint for a client on the allowlist",
        text: "Answers once the compute runs. The address is checked against the allowlist again, in the transaction that wakes.",
        answer: "Where the compute runs."
      })
    ),
    HttpApiEndpoint.post("cancel", "/v1/proxy/cancels", {
      payload: CancelNotice,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(proxyOnly, {
        summary: "Hand a cancel request to the proxy that has its session",
        text: "Every proxy gets a frame `cancel` on its stream of changes, and the one that has the session forwards the request. Best effort.",
        answer: "The proxies are told."
      })
    ),
    HttpApiEndpoint.post("activity", "/v1/proxy/activity", {
      payload: ActivityPayload,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(proxyOnly, {
        summary: "Report the use of computes, so that idle computes are suspended",
        text: "By these reports idle computes are suspended.",
        answer: "The report is taken."
      })
    ),
    HttpApiEndpoint.post("refusals", "/v1/proxy/refusals", {
      payload: RefusalsPayload,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(proxyOnly, {
        summary: "Report the clients that the allowlist refused",
        text: "One entry for each address and endpoint: at most 200. A report that is repeated with its number counts once.",
        answer: "The report is taken."
      })
    )
  )
  .middleware(ProxyAuthentication)
  .annotateMerge(OpenApi.annotations({ title: "Proxy", description: "For proxies only." })) {}

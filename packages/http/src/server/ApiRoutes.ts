/**
 * Every route of the API: the groups, the middleware around them, OpenAPI and its pages. It needs the core's services
 * and a `Transport`, and does not start while an endpoint has no policy, or a change no act.
 */
import { Api } from "@narthex/api"
import { ProxyRequests } from "@narthex/core"
import { ByteSize, Effect, Layer } from "effect"
import { Headers, HttpIncomingMessage, UrlParams } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { layerDocs } from "../docs/docsRoutes.ts"
import { ApiKeysHandlers } from "../handlers/apiKeys.ts"
import { AuditHandlers } from "../handlers/audit.ts"
import { AuthHandlers } from "../handlers/auth.ts"
import { BranchesHandlers } from "../handlers/branches.ts"
import { CliHandlers } from "../handlers/cli.ts"
import { CredentialsHandlers } from "../handlers/credentials.ts"
import { EndpointsHandlers } from "../handlers/endpoints.ts"
import { EventsHandlers } from "../handlers/events.ts"
import { InvitationsHandlers } from "../handlers/invitations.ts"
import { IpAllowlistHandlers } from "../handlers/ipAllow.ts"
import { OperationsHandlers } from "../handlers/operations.ts"
import { OrganizationsHandlers } from "../handlers/orgs.ts"
import { OwnInvitationsHandlers } from "../handlers/ownInvitations.ts"
import { ProjectsHandlers } from "../handlers/projects.ts"
import { ProxyHandlers } from "../handlers/proxy.ts"
import { RegionsHandlers } from "../handlers/regions.ts"
import { SandboxesHandlers } from "../handlers/sandboxes.ts"
import { ServiceHandlers } from "../handlers/service.ts"
import { WebhooksHandlers } from "../handlers/webhooks.ts"
import { Limits } from "../limits/Limits.ts"
import { layerAuthentication, layerOwnToken, layerProxyAuthentication } from "../middleware/Authentication.ts"
import { layerPolicyCheck } from "../middleware/PolicyCheck.ts"
import { layerRateLimiting } from "../middleware/RateLimiting.ts"
import { layerResponseHeaders } from "../middleware/ResponseHeaders.ts"
import { layerSchemaErrors } from "../middleware/SchemaErrors.ts"
import { HttpConventions } from "./HttpConventions.ts"
import { withoutAct, withoutPolicy } from "./routeTable.ts"

const Handlers = Layer.mergeAll(
  ApiKeysHandlers,
  AuditHandlers,
  AuthHandlers,
  BranchesHandlers,
  CliHandlers,
  CredentialsHandlers,
  EndpointsHandlers,
  EventsHandlers,
  InvitationsHandlers,
  OwnInvitationsHandlers,
  IpAllowlistHandlers,
  OperationsHandlers,
  OrganizationsHandlers,
  ProjectsHandlers,
  ProxyHandlers,
  RegionsHandlers,
  SandboxesHandlers,
  ServiceHandlers,
  WebhooksHandlers
)

/** The routes alone, for a server that builds them after its start. */
export const BareRoutes = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide(Handlers),
    Layer.provide([layerAuthentication, layerOwnToken, layerPolicyCheck, layerProxyAuthentication]),
    Layer.provide([layerRateLimiting, layerResponseHeaders, layerSchemaErrors]),
    Layer.provide(Limits.layer)
  ),
  layerDocs,
  HttpConventions
)

const everyChangeIsAudited = Layer.effectDiscard(
  withoutAct.length === 0
    ? Effect.void
    : Effect.die(new Error(`These changes have no act, so the server does not start: ${withoutAct.join(", ")}`))
)

const everyEndpointHasAPolicy = Layer.effectDiscard(
  withoutPolicy.length === 0
    ? Effect.void
    : Effect.die(new Error(`These endpoints have no policy, so the server does not start: ${withoutPolicy.join(", ")}`))
)

/** Runs when an instance starts, before the first request: the check of policies, and the record for proxy reports. */
export const layerServing = Layer.mergeAll(everyEndpointHasAPolicy, everyChangeIsAudited, ProxyRequests.layerReceiving)

/** Every route of the API. The router must be strict: `strictRouting`. */
export const ApiRoutes = Layer.merge(BareRoutes, layerServing)

/** The configuration of a router that serves the API. */
export const strictRouting = {
  ignoreTrailingSlash: false,
  ignoreDuplicateSlashes: false,
  caseSensitive: true,
  maxParamLength: 512
} as const

/** Headers and parameters that traces redact: credentials, and names under which clients may send one by mistake. */
const secretHeaders = ["authorization", "proxy-authorization", "cookie", "set-cookie", "narthex-console"]
const secretParameters = [/token|secret|key|password|code|state|auth/i]

/** A larger body is 413. */
const maxBody = ByteSize.kibibytes(64)

/** The limit of bodies, and what traces redact. */
export const layerRequestRules = Layer.mergeAll(
  Layer.succeed(HttpIncomingMessage.MaxBodySize, maxBody),
  Layer.succeed(Headers.CurrentRedactedNames, secretHeaders),
  Layer.succeed(UrlParams.CurrentRedactedNames, secretParameters)
)

/**
 * The API as a server on a port: every group, the middleware around them, OpenAPI and its pages, and a graceful stop.
 *
 * It needs the core's services; the composition provides storage. It does not start while an endpoint has no policy.
 * When it stops, readiness fails first, then streams end, then calls in flight finish.
 */
import { createServer as createHttp1Server, type Server } from "node:http"
import type { Http2SecureServer, Http2Server } from "node:http2"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Api } from "@narthex/api"
import { EventStreams, ProxyRequests } from "@narthex/core"
import { ByteSize, Duration, Effect, Layer } from "effect"
import { Headers, HttpIncomingMessage, HttpRouter, UrlParams } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Draining } from "../Draining.ts"
import { ApiKeysHandlers, CredentialsHandlers } from "../handlers/apiKeys.ts"
import { AuthHandlers } from "../handlers/auth.ts"
import { BranchesHandlers, SandboxesHandlers } from "../handlers/branches.ts"
import { CliHandlers } from "../handlers/cli.ts"
import { EndpointsHandlers, OperationsHandlers } from "../handlers/endpoints.ts"
import { EventsHandlers } from "../handlers/events.ts"
import { IpAllowlistHandlers } from "../handlers/ipAllow.ts"
import { InvitationsHandlers, OrganizationsHandlers, OwnInvitationsHandlers } from "../handlers/orgs.ts"
import { ProjectsHandlers } from "../handlers/projects.ts"
import { ProxyHandlers } from "../handlers/proxy.ts"
import { RegionsHandlers } from "../handlers/regions.ts"
import { ServiceHandlers } from "../handlers/service.ts"
import { Limits } from "../limits/Limits.ts"
import { layerAuthentication, layerOwnToken, layerProxyAuthentication } from "../middleware/Authentication.ts"
import { layerPolicyCheck } from "../middleware/PolicyCheck.ts"
import { layerRateLimiting } from "../middleware/RateLimiting.ts"
import { layerResponseHeaders } from "../middleware/ResponseHeaders.ts"
import { layerSchemaErrors } from "../middleware/SchemaErrors.ts"
import { layerDocs } from "./docsPage.ts"
import { HttpConventions } from "./HttpConventions.ts"
import { withoutPolicy } from "./routeTable.ts"

export interface ListenOptions {
  readonly host: string
  /** 0: a free port. */
  readonly port: number
  /** How long streams and calls in flight may take to end; half of it is for the streams. */
  readonly grace: Duration.Duration
  /** Makes the Node server. Default: plain HTTP/1.1; others are those of `node:https` and `node:http2`. */
  readonly createServer?: () => Server | Http2Server | Http2SecureServer
}

/** Headers and parameters that traces redact: credentials, and names under which clients may send one by mistake. */
const secretHeaders = ["authorization", "proxy-authorization", "cookie", "set-cookie", "narthex-console"]
const secretParameters = [/token|secret|key|password|code|state|auth/i]

/** A larger body is 413. */
const maxBody = ByteSize.kibibytes(64)

const Handlers = Layer.mergeAll(
  ApiKeysHandlers,
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
  ServiceHandlers
)

/** Every route of the API, for hosts with a server of their own. */
export const ApiRoutes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide(Handlers),
    Layer.provide([layerAuthentication, layerOwnToken, layerPolicyCheck, layerProxyAuthentication]),
    Layer.provide([layerRateLimiting, layerResponseHeaders, layerSchemaErrors]),
    Layer.provide(Limits.layer)
  ),
  layerDocs,
  HttpConventions,
  ProxyRequests.layerReceiving
)

const everyEndpointHasAPolicy = Layer.effectDiscard(
  withoutPolicy.length === 0
    ? Effect.void
    : Effect.die(new Error(`These endpoints have no policy, so the server does not start: ${withoutPolicy.join(", ")}`))
)

/**
 * Ends the streams before the listener waits for open connections. It is built on top of the server, because finalizers
 * run in reverse order: below the server, it would run after the grace period.
 */
const drainFirst = (grace: Duration.Duration) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const draining = yield* Draining
      const streams = yield* EventStreams
      yield* Effect.addFinalizer(() => Effect.andThen(draining.begin, streams.drain(Duration.times(grace, 0.5))))
    })
  )

const http1 = () => createHttp1Server({ requestTimeout: 60_000 })

const serving = ({ createServer = http1, grace, host, port }: ListenOptions) =>
  HttpRouter.serve(Layer.merge(ApiRoutes, everyEndpointHasAPolicy), {
    disableLogger: true,
    disableListenLog: true,
    routerConfig: {
      ignoreTrailingSlash: false,
      ignoreDuplicateSlashes: false,
      caseSensitive: true,
      maxParamLength: 512
    }
  }).pipe(
    Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, maxBody)),
    Layer.provide(Layer.succeed(Headers.CurrentRedactedNames, secretHeaders)),
    Layer.provide(Layer.succeed(UrlParams.CurrentRedactedNames, secretParameters)),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { host, port, gracefulShutdownTimeout: grace }))
  )

/** The API on its own listener. */
export const layerApiServer = (options: ListenOptions) =>
  Layer.provideMerge(drainFirst(options.grace), serving(options))

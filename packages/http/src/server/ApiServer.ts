/**
 * The API as a server on a port, with a graceful stop, and as a client for its own process (`DirectApi`). It needs the
 * core's services; the composition provides storage.
 *
 * When it stops, readiness fails first, then streams end, then calls in flight finish.
 */
import { createServer as createHttp1Server, type Server } from "node:http"
import type { Http2SecureServer, Http2Server } from "node:http2"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { type Duration, type FileSystem, Layer, type Path } from "effect"
import { type Etag, type HttpPlatform, HttpRouter, type HttpServer, type HttpServerError } from "effect/http"
import { layerDrainFirst } from "../Draining.ts"
import { ServerTransport } from "../transport/ServerTransport.ts"
import { ApiRoutes, layerRequestRules, strictRouting } from "./ApiRoutes.ts"
import { DirectApi } from "./DirectApi.ts"

export interface ListenOptions {
  readonly host: string
  /** 0: a free port. */
  readonly port: number
  /** How long streams and calls in flight may take to end; half of it is for the streams. */
  readonly grace: Duration.Duration
  /** Makes the Node server. Default: plain HTTP/1.1; others are those of `node:https` and `node:http2`. */
  readonly createServer?: () => Server | Http2Server | Http2SecureServer
  /** Further routes on the same listener, with the same conventions, but for answers `inOwnForm`. Default: none. */
  readonly routes?: Layer.Layer<never, never, DirectApi | HttpRouter.HttpRouter>
}

/** Idle connections outlive those of load balancers, and a peer that left without a word is noticed. */
const http1 = () =>
  createHttp1Server({
    requestTimeout: 60_000,
    keepAliveTimeout: 620_000,
    keepAlive: true,
    keepAliveInitialDelay: 30_000
  })

/**
 * The services of a listener for the layers above it, in types of `effect`.
 *
 * Pitfall: the inferred type. It imports declarations of `@effect/platform-node`, an optional peer, and the type checker
 * of a program that has not installed it fails.
 */
type ListenerServices =
  | HttpServer.HttpServer
  | HttpPlatform.HttpPlatform
  | Etag.Generator
  | FileSystem.FileSystem
  | Path.Path

const listener = ({
  createServer = http1,
  grace,
  host,
  port
}: ListenOptions): Layer.Layer<ListenerServices, HttpServerError.ServeError> =>
  NodeHttpServer.layer(createServer, { host, port, gracefulShutdownTimeout: grace })

const serving = (options: ListenOptions) =>
  HttpRouter.serve(Layer.provideMerge(options.routes ?? Layer.empty, Layer.provideMerge(DirectApi.layer, ApiRoutes)), {
    disableLogger: true,
    disableListenLog: true,
    routerConfig: strictRouting
  }).pipe(Layer.provide([layerRequestRules, ServerTransport.layer]), Layer.provideMerge(listener(options)))

/**
 * The API on its own listener.
 *
 * @example
 * import { Draining, layerApiServer } from "@narthex/http"
 * import { Duration, Layer } from "effect"
 * export const server = layerApiServer({ host: "127.0.0.1", port: 4400, grace: Duration.seconds(10) }).pipe(
 *   Layer.provide(Draining.layer)
 * )
 */
export const layerApiServer = (options: ListenOptions) =>
  Layer.provideMerge(layerDrainFirst(options.grace), serving(options))

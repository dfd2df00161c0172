/** The admin port: metrics for Prometheus. It needs no credential, so it listens on loopback by default. */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import type { Listener } from "./settings/Settings.ts"

export const layerAdmin = ({ host, port }: Listener) =>
  HttpRouter.serve(PrometheusMetrics.layerHttp({ path: "/metrics" }), {
    disableLogger: true,
    disableListenLog: true
  }).pipe(Layer.provide(NodeHttpServer.layer(createServer, { host, port, gracefulShutdownTimeout: "1 second" })))

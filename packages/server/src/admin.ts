/**
 * The admin port: metrics for Prometheus, liveness and readiness for load balancers and supervisors. It needs no
 * credential, so it listens on loopback by default.
 */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { keptConnections } from "./ClosingServer.ts"
import { processMetrics } from "./processMetrics.ts"
import type { Listener } from "./settings/Settings.ts"

/** Why a load balancer should send no clients now: a sentence for the operator. `undefined`: it should. */
export type Unready = Effect.Effect<string | undefined>

const respond = (body: object, status = 200) => HttpServerResponse.jsonUnsafe(body, { status })

/** The metrics of this process in the format of Prometheus, with what others add to them. */
export type Metrics = (own: string) => Effect.Effect<string>

/** `GET /health` answers while the process runs, `GET /ready` with 200, or 503 and the reason. */
const routes = (unready: Unready, metrics: Metrics, sample: Effect.Effect<void>) =>
  Layer.mergeAll(
    HttpRouter.add("GET", "/health", Effect.succeed(respond({ status: "ok" }))),
    HttpRouter.add(
      "GET",
      "/ready",
      Effect.map(unready, (reason) =>
        reason === undefined ? respond({ status: "ready" }) : respond({ status: "not_ready", reason }, 503)
      )
    ),
    HttpRouter.add(
      "GET",
      "/metrics",
      Effect.map(Effect.flatMap(Effect.andThen(sample, PrometheusMetrics.format()), metrics), (text) =>
        HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
      )
    )
  )

/** `sample` updates what is measured at the moment of a scrape, in addition to the metrics of the process. */
export const layerAdmin = (
  { host, port }: Listener,
  unready: Unready = Effect.undefined,
  metrics: Metrics = Effect.succeed,
  sample: Effect.Effect<void> = Effect.void
) =>
  Layer.unwrap(
    Effect.map(processMetrics, (ofProcess) =>
      HttpRouter.serve(routes(unready, metrics, Effect.andThen(ofProcess, sample)), {
        disableLogger: true,
        disableListenLog: true
      })
    )
  ).pipe(
    Layer.provide(
      NodeHttpServer.layer(() => createServer(keptConnections), { host, port, gracefulShutdownTimeout: "1 second" })
    )
  )

/**
 * The program of a worker of the Postgres proxy. The process that listens starts it (`proxy.ts`); it reads no setting.
 *
 * Signals are for that process: a terminal and a supervisor send them to the workers too, which end when it tells them,
 * or when it is gone.
 */
import { HttpControlPlane, serveAsWorker, workerStart } from "@narthex/proxy"
import { Cause, Effect, Exit, Layer, Redacted } from "effect"
import { layerLogging } from "./logging.ts"
import type { WorkerSetup } from "./proxy.ts"
import { layerTelemetry } from "./telemetry.ts"

const main = Effect.gen(function* () {
  const { config, setup } = yield* workerStart(process)
  // Made by `setupOf` of `proxy.ts`.
  const { api_url, telemetry, token, ...rest } = setup as WorkerSetup
  const headers = telemetry === null || telemetry.headers === null ? null : Redacted.make(telemetry.headers)
  const settings = { ...rest, telemetry: telemetry === null ? null : { ...telemetry, headers } }
  yield* Effect.scoped(serveAsWorker(config, process)).pipe(
    Effect.tapCause((cause) => Effect.logError("a worker of the Postgres proxy has failed", Cause.squash(cause))),
    Effect.annotateLogs({ worker: process.pid }),
    Effect.provide(
      HttpControlPlane.layer({ api_url, token: Redacted.make(token) }).pipe(
        Layer.provideMerge(layerTelemetry(settings)),
        Layer.provideMerge(layerLogging(settings))
      )
    )
  )
})

if (process.send === undefined) {
  process.stderr.write("narthex: narthex-proxy starts its workers itself: set NARTHEX_PROXY_WORKERS.\n")
  process.exit(1)
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {})
Effect.runPromiseExit(main).then((exit) => process.exit(Exit.isSuccess(exit) ? 0 : 1))

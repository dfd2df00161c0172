/**
 * The Postgres proxy of a process: served by the process itself, or by workers that it starts
 * (docs/design/proxy.md P47).
 */
import { fork } from "node:child_process"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import {
  HttpControlPlane,
  Proxy,
  type ProxyConfig,
  type ProxyError,
  runProxyWorkers,
  type WorkerFailed
} from "@narthex/proxy"
import { Effect, Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import type { Addresses } from "./addresses.ts"
import type { Unready } from "./admin.ts"
import type { Tokens } from "./references.ts"
import type { Settings } from "./settings/Settings.ts"

/** What the admin port shows of a proxy. Without workers its metrics are those of the process. */
export class ProxyState {
  unready: Unready = Effect.undefined
  /** Adds those of the workers to the metrics of this process. */
  metrics: (own: string) => Effect.Effect<string> = Effect.succeed
}

/** What the program of a worker gets from the process that starts it, as JSON. */
export interface WorkerSetup extends Pick<Settings, "log" | "region"> {
  readonly api_url: string
  readonly token: string
  readonly telemetry: { readonly endpoint: string; readonly headers: string | null } | null
}

/** `api_client` is the API of this process, which workers call over a socket. */
export const layerProxy = (
  { addresses, settings }: { readonly addresses: Addresses; readonly settings: Settings },
  token: Tokens["proxy"],
  api_url: string,
  state: ProxyState,
  api_client?: HttpClient.HttpClient
): Layer.Layer<never, ProxyError | WorkerFailed> => {
  if (token === null) return Layer.empty
  const config = configOf(addresses, settings)
  const { workers } = settings.proxy
  const count = workers === "auto" ? availableParallelism() : workers
  if (count === 1) return Layer.provide(Proxy.layer(config), HttpControlPlane.layer({ api_client, api_url, token }))
  const setup = setupOf(settings, token, api_url)
  return Layer.effectDiscard(
    Effect.map(runProxyWorkers(config, { workers: count, fork: forkWorker, setup }), ({ metrics, unready }) => {
      state.unready = unready
      state.metrics = metrics
    })
  )
}

const configOf = (addresses: Addresses, { allowlist, proxy, shutdown_grace }: Settings): ProxyConfig => ({
  host: addresses.proxy.host,
  port: addresses.proxy.port,
  domain: proxy.domain,
  trusted: proxy.trusted,
  allowlist,
  limits: proxy.limits,
  shutdown_grace,
  ...(proxy.tls === null ? {} : { tls: proxy.tls })
})

const setupOf = ({ log, region, telemetry }: Settings, token: Redacted.Redacted, api_url: string): WorkerSetup => ({
  api_url,
  token: Redacted.value(token),
  log,
  region,
  telemetry:
    telemetry === null
      ? null
      : { ...telemetry, headers: telemetry.headers === null ? null : Redacted.value(telemetry.headers) }
})

/** From sources this module is `proxy.ts`; in `dist` it is a part of a chunk. */
const program = join(
  import.meta.dirname,
  import.meta.filename.endsWith(".ts") ? "proxyWorker.ts" : "narthex-proxy-worker.js"
)

/**
 * V8 keeps the room for young objects that it took while thousands of sessions opened. Bounded, an idle session has half
 * of the memory. An option of this process wins.
 */
const execArgv = ["--max-semi-space-size=16", ...process.execArgv]

/** Its log goes to the standard error of this process. It prints no ready line, so it has no standard output. */
const forkWorker = () => fork(program, [], { execArgv, stdio: ["ignore", "ignore", "inherit", "ipc"] })

/**
 * The Postgres proxy of a process: served by the process itself, or by further processes that it starts
 * (docs/design/proxy.md P47).
 */
import { availableParallelism } from "node:os"
import { type ConnectWithin, HttpControlPlane, Proxy, type ProxyConfig, type ProxyError } from "@narthex/proxy"
import { Effect, Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import type { Addresses } from "./addresses.ts"
import type { Metrics, Unready } from "./admin.ts"
import { type ProxyEnded, runProxyProcesses } from "./proxyProcesses.ts"
import type { Tokens } from "./references.ts"
import type { Settings } from "./settings/Settings.ts"

/** The state of a proxy on the admin port. Without further processes its metrics are those of the process. */
export class ProxyState {
  unready: Unready = Effect.undefined
  /** Adds those of the other processes to the metrics of this one. */
  metrics: Metrics = Effect.succeed
  /** Connects to the proxy from its own process; `undefined`: it does not run here, or not yet. */
  connect: ConnectWithin | undefined
}

/** Whether this process was started to share its port with others. */
const isOneOfSeveral = process.send !== undefined

interface ProxyPlan {
  readonly addresses: Addresses
  /** `null`: every region. */
  readonly region: string | null
  readonly settings: Settings
}

/** `api_client` is the API of this process, which other processes call over a socket. */
export const layerProxy = (
  { addresses, region, settings }: ProxyPlan,
  token: Tokens["proxy"],
  api_url: string,
  state: ProxyState,
  api_client?: HttpClient.HttpClient
): Layer.Layer<never, ProxyError | ProxyEnded> => {
  if (token === null) return Layer.empty
  const count = processesOf(settings)
  if (count === 1)
    return Layer.effectDiscard(
      Effect.map(Proxy, ({ connect }) => {
        state.connect = connect
      })
    ).pipe(
      Layer.provide(Proxy.layer(configOf({ addresses, region, settings }, token))),
      Layer.provide(HttpControlPlane.layer({ api_client, api_url, token }))
    )
  const environment = {
    NARTHEX_PROXY_HOST: addresses.proxy.host,
    NARTHEX_PROXY_PORT: String(addresses.proxy.port),
    NARTHEX_PROXY_PROCESSES: "1",
    NARTHEX_REGION: region ?? undefined,
    NARTHEX_PROXY_TOKEN: Redacted.value(token),
    NARTHEX_PROXY_TOKEN_FILE: undefined,
    NARTHEX_API_INTERNAL_URL: api_url,
    NARTHEX_ADMIN_HOST: "127.0.0.1",
    NARTHEX_ADMIN_PORT: "0"
  }
  return Layer.effectDiscard(
    Effect.map(runProxyProcesses(count, environment, settings.shutdown_grace), ({ metrics, unready }) => {
      state.unready = unready
      state.metrics = metrics
    })
  )
}

/** How many processes serve the connections. */
export const processesOf = ({ proxy: { processes } }: Pick<Settings, "proxy">): number =>
  processes === "auto" ? availableParallelism() : processes

const configOf = (
  { addresses, region, settings: { allowlist, proxy, shutdown_grace } }: ProxyPlan,
  token: Redacted.Redacted
): ProxyConfig => ({
  host: addresses.proxy.host,
  port: addresses.proxy.port,
  domain: proxy.domain,
  region: region ?? undefined,
  trusted: proxy.trusted,
  allowlist,
  limits: proxy.limits,
  shutdown_grace,
  // All proxies of a platform have the token.
  decoy_secret: token,
  reuse_port: isOneOfSeveral,
  ...(proxy.tls === null ? {} : { tls: proxy.tls })
})

/**
 * The composition of the platform: the parts that a process runs, in the order of their dependencies.
 *
 * Parts end in the reverse order: the runner gives its operations back at once, a proxy ends its sessions while the API
 * still answers, the API ends its streams while the store still runs, and computes stop before the store.
 *
 * Pitfall: ending the runner last. A part that ends before it may take its whole grace. A supervisor that then kills
 * the process leaves operations that other runners take over only after their leases.
 */
import { ConsoleListener, layerConsoleServer } from "@narthex/console"
import { layerRunner, layerStreams, layerWithoutStreams, RegionCatalog, type RegionId } from "@narthex/core"
import {
  DirectApi,
  Draining,
  layerApiServer,
  layerWebhookSender,
  MasterSecret,
  type OpenIdProvider
} from "@narthex/http"
import { Database } from "@narthex/postgres"
import { Context, Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import type { Addresses } from "./addresses.ts"
import { layerAdmin } from "./admin.ts"
import { ClosingServer } from "./ClosingServer.ts"
import { layerComputes } from "./computes.ts"
import { layerIdentityProviders, layerMasterSecret, layerSigner, signInProviders } from "./identity.ts"
import { layerMcp, mcpPath } from "./mcp.ts"
import { processInfo, storeMetrics } from "./processMetrics.ts"
import { layerProxy, ProxyState, processesOf } from "./proxy.ts"
import { layerReferences, type Tokens } from "./references.ts"
import { type Settings, urlOf } from "./settings/Settings.ts"
import type { layerStorage } from "./store.ts"

export type Role = "api" | "runner" | "console" | "proxy"

export interface Plan {
  readonly settings: Settings
  /** The region of the process, as `regionOf` these settings. */
  readonly region: RegionId
  readonly addresses: Addresses
  readonly providers: ReadonlyArray<OpenIdProvider>
  readonly roles: ReadonlyArray<Role>
  /** The storage that `layerStorage` of these settings built. */
  readonly storage: Context.Context<Layer.Success<ReturnType<typeof layerStorage>>>
}

/** The roles that a process with these settings can run: without a token `/v1/proxy/*` is closed, so no proxy runs. */
export const rolesOf = ({ database, proxy }: Settings, wanted: ReadonlyArray<Role>): ReadonlyArray<Role> =>
  wanted.filter((role) => role !== "proxy" || proxy.token !== null || database === null)

/**
 * Tokens that are not set derive from the master secret, but only with an embedded store: instances that share one set
 * them.
 */
const tokensOf = ({ settings }: Plan) =>
  Effect.map(MasterSecret, (master): Tokens => {
    const embedded = settings.database === null
    return {
      console: settings.console.token ?? (embedded ? master.token("console-token") : null),
      proxy: settings.proxy.token ?? (embedded ? master.token("proxy-token") : null)
    }
  })

/**
 * Where console and proxy of this process reach the API: the API of the process itself if it has one, without a way
 * through a load balancer.
 */
export const internalUrl = ({ addresses, roles, settings }: Pick<Plan, "addresses" | "roles" | "settings">): string =>
  settings.api.internal_url ?? (roles.includes("api") ? urlOf(addresses.api) : addresses.api.url)

/** The API of this process, where its console and its proxy may call it without a socket. */
const OwnApi = Context.Reference<HttpClient.HttpClient | undefined>("@narthex/server/OwnApi", {
  defaultValue: () => undefined
})

/** Whether agents have a door: it needs a proxy that takes the word of the API for an agent's address (docs/design/mcp.md M17). */
const servesMcp = ({ roles, settings }: Plan) =>
  settings.mcp_proxy !== null || (roles.includes("api") && roles.includes("proxy") && processesOf(settings) === 1)

const layerConsole = (plan: Plan, tokens: Tokens, api_url: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { addresses, providers, settings } = plan
      const master = yield* MasterSecret
      return layerConsoleServer({
        api_url,
        api_client: yield* OwnApi,
        docs_url: `${addresses.api.url}/docs`,
        mcp_url: servesMcp(plan) ? `${addresses.api.url}${mcpPath}` : undefined,
        console_url: addresses.console.url,
        console_token: tokens.console,
        cookie_key: master.key("console-cookie"),
        providers: signInProviders(providers),
        trusted_hops: settings.trusted_hops,
        development: settings.mode.name === "development"
      })
    })
  ).pipe(
    Layer.provide(
      ConsoleListener.layer({
        host: plan.addresses.console.host,
        port: plan.addresses.console.port,
        shutdown_grace: plan.settings.shutdown_grace,
        createServer: () => new ClosingServer()
      })
    )
  )

const layerOwnProxy = (plan: Plan, tokens: Tokens, state: ProxyState) =>
  Layer.unwrap(Effect.map(OwnApi, (client) => layerProxy(plan, tokens.proxy, internalUrl(plan), state, client)))

const when = <A, E, R>(wanted: boolean, layer: Layer.Layer<A, E, R>): Layer.Layer<never, E, R> =>
  wanted ? Layer.effectDiscard(Effect.asVoid(Layer.build(layer))) : Layer.empty

/** Serves the API. An address for internal calls that the operator has set is where they go, also from this process. */
const ownApi = <E, R>({ api }: Settings, server: Layer.Layer<DirectApi, E, R>) =>
  Layer.effect(
    OwnApi,
    Effect.map(Layer.build(server), (built) => (api.internal_url === null ? Context.get(built, DirectApi) : undefined))
  )

/**
 * The readiness of an instance with any roles: the store answers, the workers of its proxy serve, and the process is not
 * stopping.
 */
const unready = Effect.fnUntraced(function* (proxy: ProxyState) {
  const { all } = yield* RegionCatalog
  const { begun } = yield* Draining
  return Effect.suspend(() =>
    begun()
      ? Effect.succeed("The server is stopping.")
      : Effect.matchEffect(all, {
          onFailure: () => Effect.succeed("Storage cannot be reached."),
          onSuccess: () => proxy.unready
        })
  )
})

/** Every part of the roles. The listeners are open when the layer has been built. */
export const layerPlatform = (plan: Plan) => {
  const { addresses, providers, region, roles, settings, storage } = plan
  const wants = (role: Role) => roles.includes(role)
  const proxy = new ProxyState()

  const base = layerSigner(addresses.api.url, settings.key_peppers).pipe(
    Layer.provideMerge(layerMasterSecret(settings)),
    Layer.provideMerge(layerComputes(settings, region, wants("runner"))),
    Layer.provideMerge(Layer.succeedContext(storage)),
    Layer.provideMerge(layerIdentityProviders(providers)),
    Layer.provideMerge(Draining.layer)
  )

  const withTokens = Layer.unwrap(
    Effect.map(tokensOf(plan), (tokens) => {
      const server = layerApiServer({
        host: addresses.api.host,
        port: addresses.api.port,
        grace: settings.shutdown_grace,
        createServer: () => new ClosingServer({ requestTimeout: 60_000 }),
        ...(servesMcp(plan) ? { routes: layerMcp(plan, tokens.console, proxy) } : {})
      })
      return when(wants("runner"), layerRunner).pipe(
        Layer.provideMerge(when(wants("proxy"), layerOwnProxy(plan, tokens, proxy))),
        Layer.provideMerge(when(wants("console"), layerConsole(plan, tokens, internalUrl(plan)))),
        Layer.provideMerge(wants("api") ? ownApi(settings, Layer.provide(server, layerStreams)) : Layer.empty),
        Layer.provideMerge(layerWithoutStreams),
        Layer.provideMerge(layerWebhookSender()),
        Layer.provideMerge(layerReferences(settings, region, addresses, tokens))
      )
    })
  )
  const metrics = (own: string) => proxy.metrics(own)
  const sample = Effect.andThen(processInfo(region, roles), storeMetrics(Context.get(storage, Database)))
  const admin = Layer.unwrap(
    Effect.map(unready(proxy), (reason) => layerAdmin(addresses.admin, reason, metrics, sample))
  )
  return Layer.merge(withTokens, admin).pipe(Layer.provide(base))
}

/**
 * The proxy as a service: it listens while its layer is open, and drains before the layer closes.
 *
 * Draining accepts no new connection. Idle sessions end at once with 57P01, the others at the end of their transaction,
 * and those that remain after `shutdown_grace` are cut. The proxy does not read the environment: it takes a
 * `ProxyConfig`.
 */
import { randomUUID } from "node:crypto"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { Context, Data, Duration, Effect, FiberSet, Layer, type Scope } from "effect"
import {
  AuthenticationGate,
  type AuthenticationLimits,
  defaultAuthenticationLimits
} from "./connection/AuthenticationGate.ts"
import { CancelKeys } from "./connection/CancelKeys.ts"
import { makeComputes } from "./connection/Computes.ts"
import { serveConnection } from "./connection/Connection.ts"
import { ConnectionLimiter, type ConnectionLimits, defaultConnectionLimits } from "./connection/ConnectionLimiter.ts"
import { Connections } from "./connection/Connections.ts"
import { makeDeadlines } from "./connection/Deadlines.ts"
import type { SharedState } from "./connection/SharedState.ts"
import { StrangerWakes } from "./connection/StrangerWakes.ts"
import { makeTls, type TlsFiles, type UnusableCertificate } from "./connection/Tls.ts"
import { makeActivityReports } from "./control-plane/ActivityReports.ts"
import { makeAllowlistCache } from "./control-plane/AllowlistCache.ts"
import type { ControlPlane } from "./control-plane/ControlPlane.ts"
import { makeEndpointCache } from "./control-plane/EndpointCache.ts"
import { followChanges } from "./control-plane/followChanges.ts"
import { makeRefusalReports } from "./control-plane/RefusalReports.ts"
import { type Address, parseNetwork } from "./networks/Address.ts"
import { NetworkTrie } from "./networks/NetworkTrie.ts"
import { AuditTrail } from "./outcomes/AuditTrail.ts"
import { cuts, restarting } from "./outcomes/Refusal.ts"
import { encodeFatal } from "./wire/ErrorResponse.ts"

export interface ProxyConfig {
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  /** The host name of an endpoint is `<endpoint id>.<region>.<domain>`. */
  readonly domain: string
  /** Default: plaintext only. */
  readonly tls?: TlsFiles | undefined
  /** Networks whose connections must begin with a PROXY protocol v2 header, which is trusted. Default: none. */
  readonly trusted?: ReadonlyArray<string> | undefined
  readonly allowlist?:
    | {
        /** How often allowlists and endpoints are refreshed. Default: that of `defaultProxySettings`, as below. */
        readonly refresh?: Duration.Input | undefined
        /** How long projects with rules accept connections without a control plane. */
        readonly max_stale?: Duration.Input | undefined
      }
    | undefined
  /** How long sessions may finish their transactions when the proxy drains. Default: that of `defaultProxySettings`. */
  readonly shutdown_grace?: Duration.Input | undefined
  /** Default, for each member: `defaultConnectionLimits` and `defaultAuthenticationLimits`. */
  readonly limits?:
    | (Partial<ConnectionLimits & Omit<AuthenticationLimits, "authentication_timeout">> & {
        /** From 1 s. */
        readonly authentication_timeout?: Duration.Input | undefined
      })
    | undefined
}

/** The configured address cannot be listened on. */
export class CannotListen extends Data.TaggedError("CannotListen")<{ readonly reason: string }> {
  override get message() {
    return `The proxy cannot listen: ${this.reason}`
  }
}

/** A member of `trusted` is not a network. */
export class UnreadableNetwork extends Data.TaggedError("UnreadableNetwork")<{ readonly network: string }> {
  override get message() {
    return `Trusted network "${this.network}" is not a valid CIDR or address.`
  }
}

export type ProxyError = CannotListen | UnreadableNetwork | UnusableCertificate

/**
 * A running proxy. It listens while its layer is open.
 *
 * @example
 * import { HttpControlPlane, Proxy } from "@narthex/proxy"
 * import { Layer, Redacted } from "effect"
 * const controlPlane = HttpControlPlane.layer({ api_url: "https://api.example.com", token: Redacted.make("…") })
 * export const proxy = Proxy.layer({ host: "127.0.0.1", port: 5442, domain: "db.example.com" }).pipe(
 *   Layer.provide(controlPlane)
 * )
 */
export class Proxy extends Context.Service<
  Proxy,
  {
    /** The address that it listens on. */
    readonly host: string
    readonly port: number
    /** The number of connections that are relayed. */
    readonly connections: Effect.Effect<number>
    /** Stops accepting and ends the sessions, as closing the layer does. Idempotent. */
    readonly drain: Effect.Effect<void>
  }
>()("@narthex/proxy/Proxy") {
  static readonly layer = (config: ProxyConfig): Layer.Layer<Proxy, ProxyError, ControlPlane> =>
    Layer.effect(Proxy, runProxy(config))
}

/** What holds for the members of `ProxyConfig` that are left out. */
export const defaultProxySettings = {
  allowlist: { refresh: Duration.seconds(30), max_stale: Duration.minutes(10) },
  shutdown_grace: Duration.seconds(10)
} as const

/**
 * Milliseconds of a clock that no correction moves. It is read for every chunk that is relayed, where `Clock` would
 * allocate a bigint.
 */
const monotonic = () => performance.now()

/** The time limit of ACCEPT, FIRST and STARTUP together. */
const handshakeLimit = Duration.seconds(10)

const authenticationLimits = ({ limits }: ProxyConfig): AuthenticationLimits => {
  const defaults = defaultAuthenticationLimits
  const timeout = limits?.authentication_timeout ?? defaults.authentication_timeout
  return { ...defaults, ...limits, authentication_timeout: Duration.fromInputUnsafe(timeout) }
}

/** Listens until the scope closes, then drains. */
export const runProxy = (
  config: ProxyConfig
): Effect.Effect<Proxy["Service"], ProxyError, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const trusted = yield* trustedPeers(config.trusted ?? [])
    const tls = config.tls === undefined ? undefined : yield* makeTls(config.tls)
    const defaults = defaultProxySettings
    const refresh = Duration.fromInputUnsafe(config.allowlist?.refresh ?? defaults.allowlist.refresh)
    const max_stale = Duration.fromInputUnsafe(config.allowlist?.max_stale ?? defaults.allowlist.max_stale)
    const proxy_id = randomUUID()
    const allowlists = yield* makeAllowlistCache({ refresh, max_stale })
    const shared: SharedState = {
      domain: config.domain,
      tls,
      trusted,
      limits: new ConnectionLimiter({ ...defaultConnectionLimits, ...config.limits }),
      gate: new AuthenticationGate(authenticationLimits(config), monotonic),
      wakes: new StrangerWakes(),
      allowlists,
      endpoints: yield* makeEndpointCache(refresh, monotonic),
      computes: yield* makeComputes(allowlists, monotonic),
      activity: yield* makeActivityReports(proxy_id, monotonic),
      cancelKeys: new CancelKeys(),
      audit: new AuditTrail(),
      refusals: yield* makeRefusalReports(proxy_id, monotonic),
      connections: new Connections(),
      deadlines: yield* makeDeadlines(handshakeLimit),
      context: yield* Effect.context(),
      now: monotonic
    }
    yield* followChanges(shared)
    const { connections } = shared
    const fork = yield* FiberSet.runtime(yield* FiberSet.make())()
    const server = yield* listen(config, (socket) => fork(serveConnection(shared, socket)))

    const drain = Effect.gen(function* () {
      server.close()
      connections.drain(restarting(), encodeFatal(cuts.drain))
      yield* Effect.timeoutOrElse(connections.empty, {
        duration: config.shutdown_grace ?? defaults.shutdown_grace,
        orElse: () => {
          connections.cut(encodeFatal(cuts.drain))
          return Effect.timeoutOption(connections.empty, "3 seconds")
        }
      })
      connections.destroy()
      yield* shared.activity.report
      yield* Effect.timeoutOption(shared.refusals.report, "3 seconds")
    })
    yield* Effect.addFinalizer(() => drain)
    // `address()` is an `AddressInfo` for a TCP server that listens; it is a string only for pipes.
    const { address, port } = server.address() as AddressInfo
    yield* Effect.logInfo("the Postgres proxy is listening").pipe(Effect.annotateLogs({ host: address, port }))
    return { host: address, port, connections: Effect.sync(() => connections.relays.size), drain }
  })

const listen = (config: ProxyConfig, onConnection: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<Server, CannotListen>((resume) => {
      const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, onConnection)
      server.once("error", (cause) => resume(new CannotListen({ reason: cause.message })))
      server.listen({ host: config.host, port: config.port, backlog: 4_096 }, () => {
        server.on("error", () => {})
        resume(Effect.succeed(server))
      })
      return Effect.sync(() => server.close())
    }),
    (server) => Effect.sync(() => server.close())
  )

const trustedPeers = Effect.fnUntraced(function* (networks: ReadonlyArray<string>) {
  const tries = { 4: new NetworkTrie(), 6: new NetworkTrie() }
  for (const network of networks) {
    const parsed = parseNetwork(network)
    if (parsed === undefined) return yield* new UnreadableNetwork({ network })
    tries[parsed.family].add(parsed.bytes, parsed.prefix, Number.POSITIVE_INFINITY)
  }
  return (peer: Address) => tries[peer.family].coveredUntil(peer.bytes) > 0
})

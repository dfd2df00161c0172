/** Serves the connections of a proxy. `Proxy` listens for them. */
import { createHmac, randomBytes, randomUUID } from "node:crypto"
import type { Socket } from "node:net"
import { Duration, Effect, Redacted, type Scope } from "effect"
import { makeComputes } from "./compute/Computes.ts"
import { makeActivityReports } from "./control-plane/ActivityReports.ts"
import { makeAllowlistCache } from "./control-plane/AllowlistCache.ts"
import { ControlPlane } from "./control-plane/ControlPlane.ts"
import { makeEndpointCache } from "./control-plane/EndpointCache.ts"
import { followChanges } from "./control-plane/followChanges.ts"
import { makeRefusalReports } from "./control-plane/RefusalReports.ts"
import { makeRun } from "./control-plane/Run.ts"
import { ConnectionLimiter, defaultConnectionLimits } from "./limits/ConnectionLimiter.ts"
import { makeDeadlines } from "./limits/Deadlines.ts"
import { Buckets } from "./networks/Buckets.ts"
import { serveConnection } from "./opening/Connection.ts"
import { cancelHere } from "./opening/cancel.ts"
import type { SharedState } from "./opening/SharedState.ts"
import { makeTls, type UnusableCertificate } from "./opening/Tls.ts"
import { AuditTrail, countIn } from "./outcomes/AuditTrail.ts"
import { ProxyMetrics } from "./outcomes/ProxyMetrics.ts"
import { cuts, restarting } from "./outcomes/Refusal.ts"
import {
  defaultProxySettings,
  graceOf,
  handshakeLimit,
  monotonic,
  type ProxyConfig,
  trustedPeers,
  type UnreadableNetwork
} from "./ProxyConfig.ts"
import { CancelKeys } from "./relay/CancelKeys.ts"
import { Connections } from "./relay/Connections.ts"
import { encodeFatal } from "./wire/ErrorResponse.ts"

export interface ServingProxy {
  /** Serves an accepted, paused socket. `behalf`: whom it is for, if this process itself has connected. */
  readonly serve: (socket: Socket, behalf?: string) => void
  /** The number of connections that are relayed. */
  readonly connections: Effect.Effect<number>
  /** Ends the sessions: idle ones at once, others within `shutdown_grace`. Later connections are refused. */
  readonly drain: Effect.Effect<void>
}

/** Cancel requests per second that are handed to other proxies, each of which is a row of the event log, and the size of a burst. */
const [ofNetwork, ofAll] = [
  { rate: 5, burst: 50 },
  { rate: 50, burst: 200 }
]

/**
 * The secret from which decoys derive. All proxies of a platform share it: a salt that differs between proxies would
 * show that the role does not exist.
 */
const decoySecretOf = ({ decoy_secret }: Pick<ProxyConfig, "decoy_secret">): Buffer =>
  decoy_secret === undefined
    ? randomBytes(32)
    : createHmac("sha256", Redacted.value(decoy_secret)).update("decoys").digest()

export const makeProxy = (
  config: Omit<ProxyConfig, "host" | "port">
): Effect.Effect<ServingProxy, UnreadableNetwork | UnusableCertificate, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const defaults = defaultProxySettings
    const refresh = Duration.fromInputUnsafe(config.allowlist?.refresh ?? defaults.allowlist.refresh)
    const max_stale = Duration.fromInputUnsafe(config.allowlist?.max_stale ?? defaults.allowlist.max_stale)
    const proxy_id = randomUUID()
    const trusted = yield* trustedPeers(config.trusted)
    const tls = config.tls === undefined ? undefined : yield* makeTls(config.tls)
    const context = yield* Effect.context()
    const { cancel } = yield* ControlPlane
    const limiter = new ConnectionLimiter({ ...defaultConnectionLimits, ...config.limits }, monotonic)
    const metrics = new ProxyMetrics(context)
    const allowlists = yield* makeAllowlistCache({ refresh, max_stale }, metrics)
    const shared: SharedState = {
      domain: config.domain,
      region: config.region,
      tls,
      trusted,
      allowlists,
      endpoints: yield* makeEndpointCache(refresh, monotonic),
      computes: yield* makeComputes(allowlists, monotonic, metrics),
      activity: yield* makeActivityReports(proxy_id, monotonic),
      cancelKeys: new CancelKeys(),
      cancelElsewhere: cancel,
      handedOver: new Buckets(ofNetwork.rate, ofNetwork.burst),
      handedOverInAll: new Buckets(ofAll.rate, ofAll.burst),
      limiter,
      decoySecret: decoySecretOf(config),
      audit: new AuditTrail(context),
      metrics,
      refusals: yield* makeRefusalReports(proxy_id, monotonic),
      connections: new Connections(),
      deadlines: yield* makeDeadlines(handshakeLimit),
      run: yield* makeRun,
      context,
      now: monotonic
    }
    yield* followChanges({
      allowlists,
      endpoints: shared.endpoints,
      cancelHere: (notice) => cancelHere(shared, notice)
    })
    const { connections } = shared

    return {
      serve: (socket, behalf) => {
        const slots = limiter.open()
        if (slots !== undefined) return serveConnection(shared, socket, slots, behalf)
        socket.destroy()
        countIn(context, "limit_connections")
      },
      connections: Effect.sync(() => connections.relays.size),
      drain: Effect.gen(function* () {
        connections.drain(restarting(), encodeFatal(cuts.drain))
        yield* Effect.timeoutOrElse(connections.empty, {
          duration: graceOf(config),
          orElse: () => {
            connections.cut(encodeFatal(cuts.drain))
            return Effect.timeoutOption(connections.empty, "3 seconds")
          }
        })
        connections.destroy()
        yield* shared.activity.report
        yield* Effect.timeoutOption(shared.refusals.report, "3 seconds")
      })
    }
  })

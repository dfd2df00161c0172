/**
 * What serves the connections of a proxy in this process, wherever they come from: `Proxy` listens for them, and a
 * worker gets them from the process that listens.
 */
import { randomUUID } from "node:crypto"
import type { Socket } from "node:net"
import { Duration, Effect, type Scope } from "effect"
import { CancelKeys, type CancelTarget } from "./connection/CancelKeys.ts"
import type { Claims } from "./connection/Claims.ts"
import { makeComputes } from "./connection/Computes.ts"
import { serveConnection } from "./connection/Connection.ts"
import { Connections } from "./connection/Connections.ts"
import { makeDeadlines } from "./connection/Deadlines.ts"
import type { SharedState } from "./connection/SharedState.ts"
import { makeTls, type UnusableCertificate } from "./connection/Tls.ts"
import { makeActivityReports } from "./control-plane/ActivityReports.ts"
import { makeAllowlistCache } from "./control-plane/AllowlistCache.ts"
import type { ControlPlane } from "./control-plane/ControlPlane.ts"
import { makeEndpointCache } from "./control-plane/EndpointCache.ts"
import { followChanges } from "./control-plane/followChanges.ts"
import { makeRefusalReports } from "./control-plane/RefusalReports.ts"
import { makeRun } from "./control-plane/Run.ts"
import { AuditTrail } from "./outcomes/AuditTrail.ts"
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
import { encodeFatal } from "./wire/ErrorResponse.ts"

export interface ServingProxy {
  /** Serves an accepted, paused socket with what it has of the limits. */
  readonly serve: (socket: Socket, claims: Claims) => void
  readonly cancelKeys: CancelKeys
  /** The number of connections that are relayed. */
  readonly connections: Effect.Effect<number>
  /** Ends the sessions: idle ones at once, others within `shutdown_grace`. Later connections are refused. */
  readonly drain: Effect.Effect<void>
}

export const makeProxy = (
  config: Omit<ProxyConfig, "host" | "port" | "limits">,
  cancelTargetElsewhere: (key: Buffer) => Effect.Effect<CancelTarget | undefined>
): Effect.Effect<ServingProxy, UnreadableNetwork | UnusableCertificate, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const defaults = defaultProxySettings
    const refresh = Duration.fromInputUnsafe(config.allowlist?.refresh ?? defaults.allowlist.refresh)
    const max_stale = Duration.fromInputUnsafe(config.allowlist?.max_stale ?? defaults.allowlist.max_stale)
    const proxy_id = randomUUID()
    const trusted = yield* trustedPeers(config.trusted)
    const tls = config.tls === undefined ? undefined : yield* makeTls(config.tls)
    const context = yield* Effect.context()
    const allowlists = yield* makeAllowlistCache({ refresh, max_stale })
    const shared: SharedState = {
      domain: config.domain,
      tls,
      trusted,
      allowlists,
      endpoints: yield* makeEndpointCache(refresh, monotonic),
      computes: yield* makeComputes(allowlists, monotonic),
      activity: yield* makeActivityReports(proxy_id, monotonic),
      cancelKeys: new CancelKeys(),
      cancelTargetElsewhere,
      audit: new AuditTrail(context),
      refusals: yield* makeRefusalReports(proxy_id, monotonic),
      connections: new Connections(),
      deadlines: yield* makeDeadlines(handshakeLimit),
      run: yield* makeRun,
      context,
      now: monotonic
    }
    yield* followChanges(shared)
    const { cancelKeys, connections } = shared

    return {
      serve: (socket, claims) => serveConnection(shared, socket, claims),
      cancelKeys,
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

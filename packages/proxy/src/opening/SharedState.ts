/** The state that the connections of a proxy share. */
import type { Context } from "effect"
import type { Computes } from "../compute/Computes.ts"
import type { ActivityReports } from "../control-plane/ActivityReports.ts"
import type { AllowlistCache } from "../control-plane/AllowlistCache.ts"
import type { ControlPlane } from "../control-plane/ControlPlane.ts"
import type { EndpointCache } from "../control-plane/EndpointCache.ts"
import type { RefusalReports } from "../control-plane/RefusalReports.ts"
import type { Run } from "../control-plane/Run.ts"
import type { ConnectionLimiter } from "../limits/ConnectionLimiter.ts"
import type { Deadlines } from "../limits/Deadlines.ts"
import type { Address } from "../networks/Address.ts"
import type { Buckets } from "../networks/Buckets.ts"
import type { AuditTrail } from "../outcomes/AuditTrail.ts"
import type { ProxyMetrics } from "../outcomes/ProxyMetrics.ts"
import type { CancelKeys } from "../relay/CancelKeys.ts"
import type { Connections } from "../relay/Connections.ts"
import type { Tls } from "./Tls.ts"

/**
 * Made once by `makeProxy` and passed to each connection. A record rather than services of a `Context`: its parts live
 * exactly as long as the listener, no embedder replaces one, and reading a member costs no look-up.
 */
export interface SharedState {
  readonly domain: string
  /** `undefined`: it serves the endpoints of every region. */
  readonly region: string | undefined
  readonly tls: Tls | undefined
  readonly allowlists: AllowlistCache
  readonly endpoints: EndpointCache
  readonly computes: Computes
  readonly activity: ActivityReports
  readonly cancelKeys: CancelKeys
  /** Hands a cancel request to the proxy that has its session. */
  readonly cancelElsewhere: ControlPlane["Service"]["cancel"]
  /** How many requests a network may have handed over. */
  readonly handedOver: Buckets
  readonly handedOverInAll: Buckets
  readonly limiter: ConnectionLimiter
  /** The secret from which the verifiers of unknown roles derive. */
  readonly decoySecret: Buffer
  readonly audit: AuditTrail
  readonly metrics: ProxyMetrics
  readonly refusals: RefusalReports
  readonly connections: Connections
  /** The time limit of everything up to the proof. */
  readonly deadlines: Deadlines
  /** Runs the work of connections that needs a fiber. */
  readonly run: Run
  /** Has the registry of metrics and the loggers. */
  readonly context: Context.Context<never>
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Whether this peer must send a PROXY header that names the client. */
  readonly trusted: (peer: Address) => boolean
}

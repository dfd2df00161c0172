/**
 * Whether a compute is idle (docs/design/proxy.md P26, P33): what proxies reported about it, and what follows. Pure.
 *
 * Every age is measured by the store's clock from the moment at which a report was received, and every idle time by the
 * reporting proxy's monotonic clock. No wall clock is compared with another.
 *
 * Pitfall: taking silence for idleness. A proxy that could not report may relay a query, so a compute with connections
 * is idle only by a report that has just arrived, and no compute is idle right after an outage of the API.
 */
import { Schema } from "effect"
import { EndpointId } from "../../Ids.ts"
import type { Endpoint } from "./Endpoint.ts"

/** How proxies and the control plane time their reports, in milliseconds. */
export const activityTiming = {
  /** A proxy repeats its report of an endpoint at least this often. */
  interval: 15_000,
  /** A report is fresh for this long: the suspend of a compute with connections is decided by fresh reports. */
  fresh: 5_000,
  /** After an outage of the API nothing is suspended for this long: every proxy has reported by then. */
  settle: 30_000,
  /** A proxy without a report for this long, in which others could report, has ended, and its sessions with it. */
  gone: 300_000,
  /** A compute that has just started stays for this long, in which the clients that woke it authenticate. */
  start: 10_000,
  /** How often an instance records that it receives reports. */
  beat: 2_000,
  /** A longer time between two such records is an outage. */
  outage: 6_000
} as const

/** The use of one compute as one proxy observed it, in this generation only. */
export interface ActivityReport {
  readonly endpoint_id: EndpointId
  readonly generation: number
  /** Authenticated sessions. */
  readonly connections: number
  /** Sessions that are in a transaction, a query or a copy. */
  readonly busy: number
  /** Milliseconds since the last activity of any session, by the proxy's monotonic clock; 0 while one is busy. */
  readonly idle_ms: number
}

/** The reports of one call of a proxy. */
export interface ProxyReport {
  /** Unique to a process of a proxy; `null`: a proxy of an older version, which does not name itself. */
  readonly proxy_id: string | null
  /** Grows with every call of the proxy. A call that arrives after a later one changes nothing. */
  readonly sequence: number
  readonly endpoints: ReadonlyArray<ActivityReport>
}

/** The last report of a proxy about a compute, and its age in milliseconds. */
export const ProxyUse = Schema.Struct({
  named: Schema.Boolean,
  connections: Schema.Finite,
  busy: Schema.Finite,
  age_ms: Schema.Finite
})
export type ProxyUse = typeof ProxyUse.Type

/** The use of an endpoint's compute in its present generation. */
export const EndpointUse = Schema.Struct({
  endpoint_id: EndpointId,
  /** Milliseconds since the last activity: the latest of the proxies' reports and the start. */
  idle_ms: Schema.Finite,
  /** Milliseconds since the start. */
  started_ms: Schema.NullOr(Schema.Finite),
  /** For how many milliseconds reports could be received without an outage; `null`: they cannot be now. */
  receiving_ms: Schema.NullOr(Schema.Finite),
  proxies: Schema.Array(ProxyUse)
})
export type EndpointUse = typeof EndpointUse.Type

/**
 * Whether the compute is in use, is idle since `idle_ms`, or the reports are too old to tell. Reports of idle sessions
 * count for `fresh_ms` milliseconds.
 *
 * A proxy of an older version does not tell busy sessions from idle ones, so all of its sessions count as busy. Several
 * such proxies share one record, so the absence of sessions counts once the others have had the time to report theirs.
 */
export const usage = (
  { proxies, receiving_ms }: EndpointUse,
  fresh_ms: number = activityTiming.fresh
): "in_use" | "idle" | "unknown" => {
  if (receiving_ms === null || receiving_ms < activityTiming.settle) return "unknown"
  const there = proxies.filter(({ age_ms }) => Math.min(age_ms, receiving_ms) <= activityTiming.gone)
  if (there.some(({ busy }) => busy > 0)) return "in_use"
  const told = there.every(({ age_ms, connections, named }) =>
    named ? connections === 0 || age_ms <= fresh_ms : age_ms > activityTiming.interval + activityTiming.fresh
  )
  return told ? "idle" : "unknown"
}

/** Whether the compute was started a moment ago, and no session has been reported yet. */
const justStarted = ({ idle_ms, started_ms }: EndpointUse) =>
  started_ms !== null && started_ms < activityTiming.start && idle_ms >= started_ms

/**
 * Whether the compute has been unused for as long as its endpoint allows. Whether it runs is not checked. A server with roles of an
 * operator's own never has: it runs anyway, and no client could start it again, because none has proved itself to the proxy.
 */
export const idleFor = (endpoint: Endpoint, use: EndpointUse, fresh_ms?: number): boolean =>
  endpoint.reach?.own_roles !== true &&
  endpoint.suspend_timeout_seconds !== -1 &&
  use.idle_ms >= endpoint.suspend_timeout_seconds * 1_000 &&
  !justStarted(use) &&
  usage(use, fresh_ms) === "idle"

/** Whether this is a running compute to suspend. */
export const isIdle = (endpoint: Endpoint, use: EndpointUse): boolean => endpoint.running && idleFor(endpoint, use)

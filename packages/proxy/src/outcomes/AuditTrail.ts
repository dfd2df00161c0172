/**
 * What operators see of connections: a counter with an `event` label, the number of relayed connections, and an audit
 * line for each client that the allowlist refused.
 */
import type { EndpointId, ProjectId } from "@narthex/core"
import { Clock, type Context, Effect, Metric } from "effect"

const events = Metric.counter("narthex_proxy_events_total", {
  description: "Connections, by the stage they passed or the reason why they ended.",
  incremental: true
})

const relayed = Metric.gauge("narthex_proxy_connections", { description: "Connections that are relayed." })

/** Counts a connection that is relayed, until the returned function is called. It runs outside of fibers. */
export const countRelayed = (context: Context.Context<never>): (() => void) => {
  relayed.modifyUnsafe(1, context)
  return () => relayed.modifyUnsafe(-1, context)
}

/** Counts one event: a stage that a connection passed, or the reason why it ended. */
export const count = (event: string): Effect.Effect<void> => {
  const known = counters.get(event) ?? Metric.withAttributes(events, { event })
  counters.set(event, known)
  return Metric.update(known, 1)
}

const counters = new Map<string, Metric.Metric<number, unknown>>()

export interface RefusedClient {
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId
  readonly client_address: string
}

/** A repeated refusal is logged after this many milliseconds. */
const quiet = 60_000
const mostRemembered = 10_000

/**
 * Logs refused clients, at most once a minute for each address and endpoint: with `sslmode=prefer` every refusal is two
 * attempts, and a client that retries makes thousands. Repeated refusals are only counted.
 */
export class AuditTrail {
  readonly #loggedAt = new Map<string, number>()

  refused(client: RefusedClient): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const key = `${client.endpoint_id} ${client.client_address}`
      const loggedAt = this.#loggedAt.get(key)
      if (loggedAt !== undefined && now - loggedAt < quiet) return count("allowlist_refused_again")
      // Deleted first, so that the map stays in the order of the log.
      this.#loggedAt.delete(key)
      this.#loggedAt.set(key, now)
      const [oldest] = this.#loggedAt.keys()
      if (this.#loggedAt.size > mostRemembered && oldest !== undefined) this.#loggedAt.delete(oldest)
      return Effect.logWarning("the allowlist refused a client").pipe(
        Effect.annotateLogs({ ...client }),
        Effect.andThen(count("allowlist_refused"))
      )
    })
  }
}

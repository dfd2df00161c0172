/**
 * What operators see of connections: a counter with an `event` label, the number of relayed connections, and an audit
 * line for each client that the allowlist refused.
 */
import { Clock, Effect, Metric } from "effect"
import type { EndpointId, ProjectId } from "@narthex/core"

const events = Metric.counter("narthex_proxy_events_total", {
  description: "What happened to connections, by event",
  incremental: true
})

export const relayed = Metric.gauge("narthex_proxy_connections", { description: "Connections that are relayed now" })

/** Counts one event: a stage that a connection passed, or the reason why it ended. */
export const count = (event: string): Effect.Effect<void> => Metric.update(Metric.withAttributes(events, { event }), 1)

export interface RefusedClient {
  readonly endpoint_id: EndpointId
  readonly project_id: ProjectId
  readonly client_address: string
}

const quiet = 60_000
const mostRemembered = 10_000

export class AuditTrail {
  readonly #saidAt = new Map<string, number>()

  refused(client: RefusedClient): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const key = `${client.endpoint_id} ${client.client_address}`
      const saidAt = this.#saidAt.get(key)
      if (saidAt !== undefined && now - saidAt < quiet) return count("allowlist_refused_again")
      // Deleted first, so that the map stays in the order in which things were said.
      this.#saidAt.delete(key)
      this.#saidAt.set(key, now)
      const [oldest] = this.#saidAt.keys()
      if (this.#saidAt.size > mostRemembered && oldest !== undefined) this.#saidAt.delete(oldest)
      return Effect.logWarning("the allowlist turned a client away").pipe(
        Effect.annotateLogs({ ...client }),
        Effect.andThen(count("allowlist_refused"))
      )
    })
  }
}

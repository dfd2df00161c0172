/** What the proxy counts. One counter with an `event` label: each event is one way that a connection can go. */
import { type Effect, Metric } from "effect"

const events = Metric.counter("narthex_proxy_events_total", {
  description: "What happened to connections, by event",
  incremental: true
})

export const open = Metric.gauge("narthex_proxy_connections", { description: "Connections that are relayed now" })

/** Counts one event: a stage passed, or the reason why a connection ended. */
export const count = (event: string): Effect.Effect<void> => Metric.update(Metric.withAttributes(events, { event }), 1)

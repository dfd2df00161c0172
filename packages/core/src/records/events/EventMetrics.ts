/** Metrics of the log and its feed (docs/design/events.md E38). The names are an interface: dashboards use them. */
import { type Context, Metric } from "effect"

const seconds = Metric.exponentialBoundaries({ start: 0.000_5, factor: 2, count: 16 })

export const eventMetrics = {
  outboxDepth: Metric.gauge("narthex_events_outbox_depth", { description: "Committed events without an id yet." }),
  outboxOldest: Metric.gauge("narthex_events_outbox_oldest_seconds", { description: "Age of the oldest of them." }),
  sequence: Metric.histogram("narthex_events_sequence_seconds", {
    description: "Time of one sequencing call.",
    boundaries: seconds
  }),
  sequenceBusy: Metric.counter("narthex_events_sequence_busy_total", {
    description: "Sequencing calls while another instance was sequencing.",
    incremental: true
  }),
  tailLag: Metric.gauge("narthex_events_tail_lag_events", {
    description: "Events read from the log and not yet delivered."
  }),
  tailLagSeconds: Metric.histogram("narthex_events_tail_lag_seconds", {
    description: "From an event's instant to its delivery here.",
    boundaries: seconds
  }),
  listenUp: Metric.gauge("narthex_events_listen_up", { description: "1 while the log's notifications arrive." })
}

/** Updates a metric from synchronous code. */
export type Recorder = <Input>(metric: Metric.Metric<Input, unknown>, input: Input) => void

export const makeRecorder =
  (context: Context.Context<never>): Recorder =>
  (metric, input) =>
    metric.updateUnsafe(input, context)

/** Metrics of streams and rings (docs/design/events.md E38). The names are an interface: dashboards use them. */
import { Metric } from "effect"
import type { Recorder } from "../../../records/events/EventMetrics.ts"
import type { GapReason } from "../ring/SseFrame.ts"

/** Why a stream ended. */
export type EndReason =
  | "client_gone"
  | "overflow"
  | "token_expired"
  | "max_age"
  | "revoked"
  | "draining"
  /** The log lost or skipped positions, so the ring is no longer a window of it. */
  | "log_reset"

const seconds = Metric.exponentialBoundaries({ start: 0.000_5, factor: 2, count: 16 })
const count = (name: string, description: string, attributes: Record<string, string> = {}) =>
  Metric.counter(name, { description, incremental: true, attributes })

/** One metric per value of a label, made once: `Metric.withAttributes` would make its key again for every update. */
const by = <Value extends string, Input, State>(
  label: string,
  make: (attributes: Record<string, string>) => Metric.Metric<Input, State>
) => {
  const made = new Map<Value, Metric.Metric<Input, State>>()
  return (value: Value) => {
    const known = made.get(value) ?? make({ [label]: value })
    made.set(value, known)
    return known
  }
}

export const streamMetrics = {
  streams: by<"organization" | "project", number, unknown>("scope", (attributes) =>
    Metric.gauge("narthex_events_streams", { description: "Open event streams.", attributes })
  ),
  opened: by<"none" | "replay" | "gap", number, unknown>("resume", (attributes) =>
    count("narthex_events_stream_opened_total", "Opened event streams, by how they began.", attributes)
  ),
  closed: by<EndReason, number, unknown>("reason", (attributes) =>
    count("narthex_events_stream_closed_total", "Ended event streams.", attributes)
  ),
  replayed: count("narthex_events_replayed_total", "Events that waited for returning clients."),
  gaps: by<GapReason, number, unknown>("reason", (attributes) =>
    count("narthex_events_gap_total", "Clients told that they missed events.", attributes)
  ),
  overflows: count("narthex_events_overflow_total", "Clients dropped because they read too slowly."),
  dropped: count("narthex_events_dropped_total", "Events that dropped clients did not get."),
  delivered: count("narthex_events_delivered_total", "Events written to streams."),
  deliveredBytes: count("narthex_events_delivered_bytes_total", "Bytes written to streams."),
  lagging: Metric.gauge("narthex_events_lagging_streams", {
    description: "Streams whose connection takes nothing now."
  }),
  ringBytes: Metric.gauge("narthex_events_ring_bytes", { description: "Memory of all rings." }),
  ringEvictions: count("narthex_events_ring_evictions_total", "Rings given up for memory."),
  warmLoad: Metric.histogram("narthex_events_warm_load_seconds", {
    description: "Time to load a ring.",
    boundaries: seconds
  }),
  flush: Metric.histogram("narthex_events_flush_seconds", { description: "Time of one flush.", boundaries: seconds })
}

/** Shows counters at zero: an alert on the first increase needs the sample before it. */
export const showCounters = (record: Recorder) => {
  const { delivered, deliveredBytes, dropped, overflows, replayed, ringEvictions } = streamMetrics
  for (const counter of [delivered, deliveredBytes, dropped, overflows, replayed, ringEvictions]) record(counter, 0)
  for (const reason of ["malformed", "ahead", "too_old"] as const) record(streamMetrics.gaps(reason), 0)
}

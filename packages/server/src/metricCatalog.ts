/**
 * Every metric of the admin port (docs/design/settings.md S10). Names and labels are an interface: dashboards use them.
 * `docs/metrics.md` is made from it.
 */
import { OperationClass } from "@narthex/core"

export interface CatalogedMetric {
  /** Which processes have it: all, or those with the store, the API, the runner or the proxy. */
  readonly of: "process" | "store" | "event streams" | "operations" | "proxy" | "requests"
  readonly kind: "counter" | "gauge" | "histogram"
  /** Label → its values, or what they are. */
  readonly labels?: Readonly<Record<string, string>>
  readonly meaning: string
}

const events = (kind: CatalogedMetric["kind"], meaning: string, labels?: CatalogedMetric["labels"]) =>
  ({ of: "event streams", kind, meaning, ...(labels === undefined ? {} : { labels }) }) satisfies CatalogedMetric

export const metricCatalog: Readonly<Record<string, CatalogedMetric>> = {
  events_streams: events("gauge", "Open event streams.", { scope: "`organization`, `project`" }),
  events_stream_opened_total: events("counter", "Opened event streams, by how they began.", {
    resume: "`none`, `replay`, `gap`"
  }),
  events_stream_closed_total: events("counter", "Ended event streams.", {
    reason: "`client_gone`, `overflow`, `token_expired`, `max_age`, `revoked`, `draining`, `log_reset`"
  }),
  events_replayed_total: events("counter", "Events that waited for returning clients."),
  events_gap_total: events("counter", "Clients told that they missed events.", {
    reason: "`malformed`, `ahead`, `too_old`"
  }),
  events_overflow_total: events("counter", "Clients dropped because they read too slowly."),
  events_dropped_total: events("counter", "Events that dropped clients did not get."),
  events_delivered_total: events("counter", "Events written to streams."),
  events_delivered_bytes: events("counter", "Bytes written to streams."),
  events_lagging_streams: events("gauge", "Streams whose connection takes nothing now."),
  events_ring_bytes: events("gauge", "Memory of all rings."),
  events_ring_evictions_total: events("counter", "Rings given up for memory."),
  events_warm_load_seconds: events("histogram", "Time to load a ring."),
  events_outbox_depth: events("gauge", "Committed events without an id yet."),
  events_outbox_oldest_seconds: events("gauge", "Age of the oldest of them."),
  events_sequence_seconds: events("histogram", "Time of one sequencing call."),
  events_sequence_busy_total: events("counter", "Sequencing calls while another instance was sequencing."),
  events_tail_lag_pos: events("gauge", "Events read from the log and not yet delivered."),
  events_tail_lag_seconds: events("histogram", "From an event's instant to its delivery here."),
  events_listen_up: events("gauge", "1 while the log's notifications arrive."),
  events_flush_seconds: events("histogram", "Time of one flush."),
  process_cpu_seconds_total: {
    of: "process",
    kind: "counter",
    meaning: "CPU time of the process, of user and system."
  },
  process_resident_memory_bytes: { of: "process", kind: "gauge", meaning: "Memory of the process in RAM." },
  process_start_time_seconds: { of: "process", kind: "gauge", meaning: "When the process began, in Unix time." },
  nodejs_eventloop_delay_seconds: {
    of: "process",
    kind: "gauge",
    labels: { quantile: "`0.5`, `0.99`, `1`" },
    meaning: "How late the event loop was since the last scrape, by quantile."
  },
  store_connections: {
    of: "store",
    kind: "gauge",
    meaning: "Connections that the process may open for statements and transactions on the store."
  },
  store_connections_idle: { of: "store", kind: "gauge", meaning: "Connections of these that have no work." },
  store_connections_waiting: {
    of: "store",
    kind: "gauge",
    meaning: "Statements and transactions that wait for a connection."
  },
  http_requests_total: {
    of: "requests",
    kind: "counter",
    labels: { method: "the method, or `other`", route: "the path of the contract, or `other`", status: "the status" },
    meaning: "Answered requests."
  },
  http_request_seconds: {
    of: "requests",
    kind: "histogram",
    labels: { method: "the method, or `other`", route: "the path of the contract, or `other`" },
    meaning: "Time from a request to the head of its answer."
  },
  operations_running: {
    of: "operations",
    kind: "gauge",
    labels: { class: OperationClass.literals.map((it) => `\`${it}\``).join(", ") },
    meaning: "Operations that this instance performs, by class."
  },
  operation_tries_total: {
    of: "operations",
    kind: "counter",
    labels: { action: "the action of the operation", outcome: "`finished`, `failed`, `busy`, `abandoned`" },
    meaning: "Tries of operations that ended, by action and outcome: finished, failed, busy, abandoned."
  },
  webhook_attempts_total: {
    of: "operations",
    kind: "counter",
    labels: { outcome: "`delivered`, `again`, `paused`" },
    meaning: "Attempts to deliver to webhooks, by outcome: delivered, again, paused."
  },
  compute_disk_free_bytes: {
    of: "operations",
    kind: "gauge",
    meaning: "Free bytes of the disk of local computes, at the last start, copy or measurement of the branches."
  },
  narthex_proxy_events_total: {
    of: "proxy",
    kind: "counter",
    labels: { event: "the stage, or the reason" },
    meaning: "Connections, by the stage they passed or the reason why they ended."
  },
  narthex_proxy_connections: { of: "proxy", kind: "gauge", meaning: "Connections that are relayed." }
}

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

const classes = OperationClass.literals.map((it) => `\`${it}\``).join(", ")

export const metricCatalog: Readonly<Record<string, CatalogedMetric>> = {
  narthex_events_streams: events("gauge", "Open event streams.", { scope: "`organization`, `project`" }),
  narthex_events_stream_opened_total: events("counter", "Opened event streams, by how they began.", {
    resume: "`none`, `replay`, `gap`"
  }),
  narthex_events_stream_closed_total: events("counter", "Ended event streams.", {
    reason: "`client_gone`, `overflow`, `token_expired`, `max_age`, `revoked`, `draining`, `log_reset`"
  }),
  narthex_events_replayed_total: events("counter", "Events that waited for returning clients."),
  narthex_events_gap_total: events("counter", "Clients told that they missed events.", {
    reason: "`malformed`, `ahead`, `too_old`"
  }),
  narthex_events_overflow_total: events("counter", "Clients dropped because they read too slowly."),
  narthex_events_dropped_total: events("counter", "Events that dropped clients did not get."),
  narthex_events_delivered_total: events("counter", "Events written to streams."),
  narthex_events_delivered_bytes_total: events("counter", "Bytes written to streams."),
  narthex_events_lagging_streams: events("gauge", "Streams whose connection takes nothing now."),
  narthex_events_ring_bytes: events("gauge", "Memory of all rings."),
  narthex_events_ring_evictions_total: events("counter", "Rings given up for memory."),
  narthex_events_warm_load_seconds: events("histogram", "Time to load a ring."),
  narthex_events_outbox_depth: events("gauge", "Committed events without an id yet."),
  narthex_events_outbox_oldest_seconds: events("gauge", "Age of the oldest of them."),
  narthex_events_sequence_seconds: events("histogram", "Time of one sequencing call."),
  narthex_events_sequence_busy_total: events("counter", "Sequencing calls while another instance was sequencing."),
  narthex_events_tail_lag_events: events("gauge", "Events read from the log and not yet delivered."),
  narthex_events_tail_lag_seconds: events("histogram", "From an event's instant to its delivery here."),
  narthex_events_listen_up: events("gauge", "1 while the log's notifications arrive."),
  narthex_events_flush_seconds: events("histogram", "Time of one flush."),
  narthex_process_info: {
    of: "process",
    kind: "gauge",
    labels: { version: "the version", region: "its region, or empty", roles: "its roles, with commas" },
    meaning: "1 for the version of the process, its region and its roles."
  },
  process_cpu_seconds_total: {
    of: "process",
    kind: "counter",
    meaning: "CPU time of the process, of user and system."
  },
  process_resident_memory_bytes: { of: "process", kind: "gauge", meaning: "Memory of the process in RAM." },
  process_start_time_seconds: { of: "process", kind: "gauge", meaning: "When the process began, in Unix time." },
  narthex_event_loop_delay_seconds: {
    of: "process",
    kind: "gauge",
    labels: { quantile: "`0.5`, `0.99`, `1`" },
    meaning: "How late the event loop was since the last scrape, by quantile."
  },
  narthex_store_connections: {
    of: "store",
    kind: "gauge",
    meaning: "Connections that the process may open for statements and transactions on the store."
  },
  narthex_store_connections_idle: { of: "store", kind: "gauge", meaning: "Connections of these that have no work." },
  narthex_store_connections_waiting: {
    of: "store",
    kind: "gauge",
    meaning: "Statements and transactions that wait for a connection."
  },
  narthex_store_wait_seconds: {
    of: "store",
    kind: "histogram",
    meaning: "Time that a statement or a transaction has waited for a connection."
  },
  narthex_http_requests_total: {
    of: "requests",
    kind: "counter",
    labels: { method: "the method, or `other`", route: "the path of the contract, or `other`", status: "the status" },
    meaning: "Answered requests."
  },
  narthex_http_request_seconds: {
    of: "requests",
    kind: "histogram",
    labels: { method: "the method, or `other`", route: "the path of the contract, or `other`" },
    meaning: "Time from a request to the head of its answer."
  },
  narthex_authentications_total: {
    of: "requests",
    kind: "counter",
    labels: {
      credential: "`api_key`, or `session` for any other",
      outcome: "`accepted`, or the code of the refusal"
    },
    meaning: "Requests with a credential, by its kind and outcome."
  },
  narthex_operations_running: {
    of: "operations",
    kind: "gauge",
    labels: { class: classes },
    meaning: "Operations that this instance performs, by class."
  },
  narthex_operation_tries_total: {
    of: "operations",
    kind: "counter",
    labels: { action: "the action of the operation", outcome: "`finished`, `failed`, `busy`, `abandoned`" },
    meaning: "Tries of operations that ended, by action and outcome: finished, failed, busy, abandoned."
  },
  narthex_operation_seconds: {
    of: "operations",
    kind: "histogram",
    labels: { action: "the action of the operation" },
    meaning: "Time from the scheduling of an operation until it has finished."
  },
  narthex_operations_due: {
    of: "operations",
    kind: "gauge",
    labels: { class: classes },
    meaning: "Operations of the region that wait for a place, by class."
  },
  narthex_operations_oldest_due_seconds: {
    of: "operations",
    kind: "gauge",
    labels: { class: classes },
    meaning: "For how long the oldest of them has waited."
  },
  narthex_webhook_attempts_total: {
    of: "operations",
    kind: "counter",
    labels: { outcome: "`delivered`, `again`, `paused`" },
    meaning: "Attempts to deliver to webhooks, by outcome: delivered, again, paused."
  },
  narthex_compute_disk_free_bytes: {
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
  narthex_proxy_connections: { of: "proxy", kind: "gauge", meaning: "Connections that are relayed." },
  narthex_proxy_wakes_total: {
    of: "proxy",
    kind: "counter",
    labels: { outcome: "`woken`, `timed_out`, `unreachable`, `too_many`, `refused`, `abandoned`" },
    meaning: "Wakes that the proxy asked for, by outcome."
  },
  narthex_proxy_wake_seconds: {
    of: "proxy",
    kind: "histogram",
    labels: { step: "`start`, `connect`" },
    meaning: "Time of the steps of a wake: until the compute has started, and then until a session at it has begun."
  },
  narthex_proxy_opening_seconds: {
    of: "proxy",
    kind: "histogram",
    labels: { woken: "`no`, `yes`" },
    meaning: "Time from a client's startup packet to the first byte of its session, without and with a wake."
  },
  narthex_proxy_relayed_bytes_total: {
    of: "proxy",
    kind: "counter",
    labels: { to: "`compute`, `client`" },
    meaning: "Bytes of sessions, to computes and to clients."
  },
  narthex_proxy_allowlist_age_seconds: {
    of: "proxy",
    kind: "gauge",
    meaning: "Age of the oldest allowlist in use, at the last refresh."
  }
}

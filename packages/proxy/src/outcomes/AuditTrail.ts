/**
 * Connections as operators see them: a counter with an `event` label, the number of relayed connections, and an audit
 * line for each client that the allowlist refused.
 *
 * Connections are counted outside of fibers, in the registry of metrics of a context.
 */
import type { EndpointId, ProjectId } from "@narthex/core"
import { Clock, Context, Effect, Metric } from "effect"

const relayed = Metric.gauge("narthex_proxy_connections", { description: "Connections that are relayed." })

/** Adds to the number of connections that are relayed. */
export const addRelayed = (context: Context.Context<never>, change: 1 | -1): void =>
  relayed.modifyUnsafe(change, context)

/** Counters by event. A counter that has its attribute builds no key at each update. */
const counters = new Map<string, Metric.Counter<number>>()

const counterOf = (event: string) => {
  const known = counters.get(event)
  if (known !== undefined) return known
  const made = Metric.counter("narthex_proxy_events_total", {
    description: "Connections, by the stage they passed or the reason why they ended.",
    incremental: true,
    attributes: { event }
  })
  counters.set(event, made)
  return made
}

/** Counts one event: a stage that a connection passed, or the reason why it ended. */
export const count = (event: string): Effect.Effect<void> => Metric.update(counterOf(event), 1)

/** As `count`, for code that is no fiber. */
export const countIn = (context: Context.Context<never>, event: string): void =>
  counterOf(event).updateUnsafe(1, context)

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
  readonly #context: Context.Context<never>
  readonly #log: (line: Effect.Effect<void>) => void
  readonly #loggedAt = new Map<string, number>()

  /** The context has the registry of metrics, the clock and the loggers. */
  constructor(context: Context.Context<never>) {
    this.#context = context
    this.#log = Effect.runForkWith(context)
    // An alert on the first defect needs the sample before it.
    counterOf("defect").valueUnsafe(context)
  }

  refused(client: RefusedClient): void {
    const now = Context.get(this.#context, Clock.Clock).currentTimeMillisUnsafe()
    const key = `${client.endpoint_id} ${client.client_address}`
    const loggedAt = this.#loggedAt.get(key)
    if (loggedAt !== undefined && now - loggedAt < quiet) {
      countIn(this.#context, "allowlist_refused_again")
      return
    }
    // Deleted first, so that the map stays in the order of the log.
    this.#loggedAt.delete(key)
    this.#loggedAt.set(key, now)
    const [oldest] = this.#loggedAt.keys()
    if (this.#loggedAt.size > mostRemembered && oldest !== undefined) this.#loggedAt.delete(oldest)
    this.#log(Effect.annotateLogs(Effect.logWarning("the allowlist refused a client"), { ...client }))
    countIn(this.#context, "allowlist_refused")
  }
}

/**
 * Measurements of a proxy for operators, in addition to the events of `AuditTrail`: wakes, how long clients wait for a session,
 * relayed bytes, and the age of allowlists. Labels have few fixed values, which bounds the number of series.
 */
import { type Context, Metric } from "effect"

const boundaries = Metric.exponentialBoundaries({ start: 0.001, factor: 2, count: 16 })

/** A metric for each value of a label, made once: `Metric.withAttributes` would make its key again for every update. */
const by = <Value extends string, Input, State>(
  label: string,
  values: ReadonlyArray<Value>,
  make: (attributes: Record<string, string>) => Metric.Metric<Input, State>
): ReadonlyMap<Value, Metric.Metric<Input, State>> => new Map(values.map((it) => [it, make({ [label]: it })]))

/** `refused`: by the allowlist, or because the endpoint is disabled or deleted. `abandoned`: its clients have left. */
const outcomes = ["woken", "timed_out", "unreachable", "too_many", "refused", "abandoned"] as const
export type WakeOutcome = (typeof outcomes)[number]

type Step = "start" | "connect"
type Receiver = "compute" | "client"

const wakes = by("outcome", outcomes, (attributes) =>
  Metric.counter("narthex_proxy_wakes_total", {
    description: "Wakes that the proxy asked for, by outcome.",
    incremental: true,
    attributes
  })
)
const wakeSeconds = by<Step, number, unknown>("step", ["start", "connect"], (attributes) =>
  Metric.histogram("narthex_proxy_wake_seconds", {
    description:
      "Time of the steps of a wake: until the compute has started, and then until a session at it has begun.",
    boundaries,
    attributes
  })
)
const openingSeconds = by("woken", ["no", "yes"], (attributes) =>
  Metric.histogram("narthex_proxy_opening_seconds", {
    description: "Time from a client's startup packet to the first byte of its session, without and with a wake.",
    boundaries,
    attributes
  })
)
const bytes = by<Receiver, number, unknown>("to", ["compute", "client"], (attributes) =>
  Metric.counter("narthex_proxy_relayed_bytes_total", {
    description: "Bytes of sessions, to computes and to clients.",
    incremental: true,
    attributes
  })
)
const allowlistAge = Metric.gauge("narthex_proxy_allowlist_age_seconds", {
  description: "Age of the oldest allowlist in use, at the last refresh."
})

/** The metrics of a proxy, in the registry of its context. Times are in milliseconds. */
export class ProxyMetrics {
  readonly #context: Context.Context<never>

  /** Every series is there from the start: an alert on the first increase needs the sample before it. */
  constructor(context: Context.Context<never>) {
    this.#context = context
    for (const metric of [...wakes.values(), ...bytes.values()]) metric.updateUnsafe(0, context)
    for (const metric of [...wakeSeconds.values(), ...openingSeconds.values()]) metric.valueUnsafe(context)
    this.allowlistAge(0)
  }

  wake(outcome: WakeOutcome): void {
    wakes.get(outcome)?.updateUnsafe(1, this.#context)
  }

  wakeStep(step: Step, took: number): void {
    wakeSeconds.get(step)?.updateUnsafe(took / 1_000, this.#context)
  }

  opened(took: number, woken: boolean): void {
    openingSeconds.get(woken ? "yes" : "no")?.updateUnsafe(took / 1_000, this.#context)
  }

  relayed(to: Receiver, count: number): void {
    bytes.get(to)?.updateUnsafe(count, this.#context)
  }

  allowlistAge(age: number): void {
    allowlistAge.updateUnsafe(age / 1_000, this.#context)
  }
}

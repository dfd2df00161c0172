/** The metrics of operations (docs/design/operations.md O14). */
import { DateTime, Effect, Layer, Metric, Schedule } from "effect"
import { becauseOf } from "../becauseOf.ts"
import { OperationAction, type StoredOperation } from "../records/operations/Operation.ts"
import { OperationClass } from "../records/operations/OperationClass.ts"
import { OperationStore } from "../records/operations/OperationStore.ts"
import { RunnerPolicy } from "./RunnerPolicy.ts"

const places = Metric.gauge("narthex_operations_running", {
  description: "Operations that this instance performs, by class."
})
const tries = Metric.counter("narthex_operation_tries_total", {
  description: "Tries of operations that ended, by action and outcome: finished, failed, busy, abandoned.",
  incremental: true
})
const seconds = Metric.histogram("narthex_operation_seconds", {
  description: "Time from the scheduling of an operation until it has finished.",
  boundaries: Metric.exponentialBoundaries({ start: 0.01, factor: 2, count: 16 })
})
const due = Metric.gauge("narthex_operations_due", {
  description: "Operations of the region that wait for a place, by class."
})
const oldestDue = Metric.gauge("narthex_operations_oldest_due_seconds", {
  description: "For how long the oldest of them has waited."
})

export const recordPlaces = (of: OperationClass, taken: number): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(places, { class: of }), taken)

const outcomes = ["finished", "failed", "busy", "abandoned"] as const
export type Outcome = (typeof outcomes)[number]

export const recordTry = (action: OperationAction, outcome: Outcome): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(tries, { action, outcome }), 1)

export const recordDuration = ({ action, created_at }: StoredOperation): Effect.Effect<void> =>
  Effect.flatMap(DateTime.now, (now) => {
    const took = DateTime.toEpochMillis(now) - DateTime.toEpochMillis(created_at)
    return Metric.update(Metric.withAttributes(seconds, { action }), Math.max(0, took) / 1_000)
  })

/** Shows every series at zero: an alert on the first increase needs the sample before it. */
const showAll = Effect.map(Effect.context<never>(), (context) => {
  for (const action of OperationAction.literals) {
    Metric.withAttributes(seconds, { action }).valueUnsafe(context)
    for (const outcome of outcomes) Metric.withAttributes(tries, { action, outcome }).valueUnsafe(context)
  }
  for (const of of OperationClass.literals)
    for (const gauge of [places, due, oldestDue]) Metric.withAttributes(gauge, { class: of }).valueUnsafe(context)
})

const interval = "15 seconds"

/** Measures what is due in the region of the runner, as long as its scope lives. */
export const layerMeasureBacklog: Layer.Layer<never, never, OperationStore> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { backlog } = yield* OperationStore
    const { region } = yield* RunnerPolicy
    yield* showAll
    const measure = Effect.gen(function* () {
      const now = yield* DateTime.now
      const found = new Map((yield* backlog(region, now)).map((it) => [it.class, it]))
      for (const of of OperationClass.literals) {
        const { due: waiting, since } = found.get(of) ?? { due: 0, since: now }
        const age = DateTime.toEpochMillis(now) - DateTime.toEpochMillis(since)
        yield* Metric.update(Metric.withAttributes(due, { class: of }), waiting)
        yield* Metric.update(Metric.withAttributes(oldestDue, { class: of }), Math.max(0, age) / 1_000)
      }
    })
    const tried = Effect.catchCause(measure, (cause) =>
      Effect.logDebug("What is due cannot be measured.").pipe(becauseOf(cause))
    )
    yield* Effect.forkScoped(Effect.repeat(tried, Schedule.spaced(interval)))
  })
)

/** The metrics of operations (docs/design/operations.md O14). */
import { type Effect, Metric } from "effect"
import type { OperationAction } from "../records/operations/Operation.ts"
import type { OperationClass } from "../records/operations/OperationClass.ts"

const places = Metric.gauge("narthex_operations_running", {
  description: "Operations that this instance performs, by class."
})
const tries = Metric.counter("narthex_operation_tries_total", {
  description: "Tries of operations that ended, by action and outcome: finished, failed, busy, abandoned.",
  incremental: true
})

export const recordPlaces = (of: OperationClass, taken: number): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(places, { class: of }), taken)

export type Outcome = "finished" | "failed" | "busy" | "abandoned"

export const recordTry = (action: OperationAction, outcome: Outcome): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(tries, { action, outcome }), 1)

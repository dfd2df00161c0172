/** The metric of webhooks (docs/design/webhooks.md H13). */
import { Effect, Metric } from "effect"
import type { AfterAttempt } from "../../records/webhooks/afterAttempt.ts"

const attempts = Metric.counter("narthex_webhook_attempts_total", {
  description: "Attempts to deliver to webhooks, by outcome: delivered, again, paused.",
  incremental: true
})

const added = (outcome: AfterAttempt["kind"], count: number): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(attempts, { outcome }), count)

export const recordAttempt = (outcome: AfterAttempt["kind"]): Effect.Effect<void> => added(outcome, 1)

/** Shows every outcome before the first attempt, so that a rate of the first failure is seen. */
export const showAttempts: Effect.Effect<void> = Effect.forEach(["delivered", "again", "paused"] as const, (outcome) =>
  added(outcome, 0)
).pipe(Effect.asVoid)

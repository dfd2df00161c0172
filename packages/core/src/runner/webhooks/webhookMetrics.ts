/** The metric of webhooks (docs/design/webhooks.md H13). */
import { type Effect, Metric } from "effect"
import type { AfterAttempt } from "../../records/webhooks/afterAttempt.ts"

const attempts = Metric.counter("narthex_webhook_attempts_total", {
  description: "Attempts to deliver to webhooks, by outcome: delivered, again, paused.",
  incremental: true
})

export const recordAttempt = (outcome: AfterAttempt["kind"]): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(attempts, { outcome }), 1)

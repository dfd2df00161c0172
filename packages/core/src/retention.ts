/**
 * Forgets what has served its time: sessions past their window, spent id tokens, login codes, idempotency records,
 * counters of limits. Events forget themselves (`EventFeed`).
 *
 * It may run on every instance at once: each step deletes by an instant.
 */
import { DateTime, Duration, Effect, Layer, Schedule } from "effect"
import { CliGrantStore } from "./cli-login/CliGrantStore.ts"
import { IdempotencyStore } from "./idempotency/IdempotencyStore.ts"
import { RateLimiter } from "./limits/RateLimiter.ts"
import { SessionPolicy } from "./sessions/Session.ts"
import { SessionStore } from "./sessions/SessionStore.ts"

/** A state of a login may be used again only after this. */
const grantsKept = Duration.days(1)
/** A session's row stays so long after its window, for whoever reads the log beside it. */
const sessionsKept = Duration.days(7)

export const forget = Effect.gen(function* () {
  const now = yield* DateTime.now
  const { window } = yield* SessionPolicy
  const before = (age: Duration.Duration) => DateTime.subtractDuration(now, age)
  yield* (yield* SessionStore).purge(now, before(Duration.sum(window, sessionsKept)))
  yield* (yield* CliGrantStore).purge(before(grantsKept))
  yield* (yield* IdempotencyStore).purge(now)
  yield* (yield* RateLimiter).purge(now)
})

/** Every ten minutes, as long as its scope lives. A failure waits for the next time. */
export const layerForgetting: Layer.Layer<never, never, CliGrantStore | IdempotencyStore | RateLimiter | SessionStore> =
  Layer.effectDiscard(
    forget.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Old records could not be forgotten.", cause)),
      Effect.repeat(Schedule.spaced("10 minutes")),
      Effect.forkScoped
    )
  )

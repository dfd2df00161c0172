/**
 * Purges expired rows: sessions past their window, spent id tokens, login codes, idempotency records, counters of rate
 * limits. `EventFeed` purges events.
 *
 * It may run on every instance concurrently: each step deletes by an instant.
 */
import { DateTime, Duration, Effect, Layer, Schedule } from "effect"
import { CliGrantStore } from "./cli-login/CliGrantStore.ts"
import { IdempotencyStore } from "./idempotency/IdempotencyStore.ts"
import { RateLimiter } from "./limits/RateLimiter.ts"
import { SessionPolicy } from "./sessions/Session.ts"
import { SessionStore } from "./sessions/SessionStore.ts"

/** How long the state of a login stays reserved after its code expired. */
const grantsKept = Duration.days(1)
/** How long the row of a session is kept after its window, for investigations. */
const sessionsKept = Duration.days(7)

export const purgeExpired = Effect.gen(function* () {
  const now = yield* DateTime.now
  const { window } = yield* SessionPolicy
  const before = (age: Duration.Duration) => DateTime.subtractDuration(now, age)
  yield* (yield* SessionStore).purge(now, before(Duration.sum(window, sessionsKept)))
  yield* (yield* CliGrantStore).purge(before(grantsKept))
  yield* (yield* IdempotencyStore).purge(now)
  yield* (yield* RateLimiter).purge(now)
})

/** Every ten minutes, as long as its scope lives. After a failure the next run tries again. */
export const layerPurging: Layer.Layer<never, never, CliGrantStore | IdempotencyStore | RateLimiter | SessionStore> =
  Layer.effectDiscard(
    purgeExpired.pipe(
      Effect.catchCause((cause) => Effect.logWarning("Expired records could not be purged.", cause)),
      Effect.repeat(Schedule.spaced("10 minutes")),
      Effect.forkScoped
    )
  )

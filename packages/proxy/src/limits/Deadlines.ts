/**
 * A time limit of one length for many waits, with one timer for all of them: waits end in the order in which they
 * began, so only the oldest one needs a timer.
 */
import { Clock, Duration, Effect, Queue, type Scope } from "effect"

export interface Deadlines {
  /** Calls `expire` when the time is over, unless the returned function was called before. */
  readonly begin: (expire: () => void) => () => void
}

interface Wait {
  /** In milliseconds of the monotonic clock. */
  readonly until: number
  readonly expire: () => void
}

export const makeDeadlines = (length: Duration.Input): Effect.Effect<Deadlines, never, Scope.Scope> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const millis = Duration.toMillis(Duration.fromInputUnsafe(length))
    const waits = new Set<Wait>()
    const begun = yield* Queue.sliding<void>(1)
    let asleep = false

    const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

    yield* Effect.suspend((): Effect.Effect<void> => {
      const [oldest] = waits
      if (oldest === undefined) {
        asleep = true
        return Queue.take(begun)
      }
      const left = oldest.until - now()
      if (left > 0) return Effect.sleep(left)
      waits.delete(oldest)
      oldest.expire()
      return Effect.void
    }).pipe(Effect.forever, Effect.forkScoped)

    return {
      begin: (expire) => {
        const wait = { until: now() + millis, expire }
        waits.add(wait)
        if (asleep) Queue.offerUnsafe(begun, undefined)
        asleep = false
        return () => void waits.delete(wait)
      }
    }
  })

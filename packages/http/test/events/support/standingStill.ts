/** A clock that stands still until the test moves it with `Ahead`: what time causes happens when the test says so. */
import { Clock, Effect, Layer } from "effect"

/**
 * Provided to the API, whose own clock is ahead of it. Sleeping takes its time as ever, so what looks at the clock now
 * and then goes on looking.
 */
export const standingStill = Layer.effect(
  Clock.Clock,
  Effect.map(Clock.Clock, (real): Clock.Clock => {
    const now = real.currentTimeMillisUnsafe()
    const nanos = BigInt(now) * 1_000_000n
    return {
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.succeed(now),
      currentTimeNanosUnsafe: () => nanos,
      currentTimeNanos: Effect.succeed(nanos),
      monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: real.monotonicTimeNanos,
      sleep: (duration) => real.sleep(duration)
    }
  })
)

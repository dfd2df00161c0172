/** A clock that stands still until the test moves it with `Ahead`: deadlines pass only when the test moves it. */
import { Clock, Effect, Layer } from "effect"

/**
 * Provided to the API, whose own clock is ahead of it. A sleep takes real time, so code that reads the clock and then
 * sleeps repeats without progress of the clock.
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

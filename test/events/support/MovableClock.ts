/**
 * The clock of an API process that tests may set. It follows the machine's clock until the test sets it, and from then
 * on moves only when the test sets it again.
 */
import { type Clock, Duration, Effect } from "effect"

/** The longest delay of Node's timers; longer sleeps are cut to it. */
const longest = 2 ** 31 - 1

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

export class MovableClock implements Clock.Clock {
  #standing: number | undefined
  readonly #asleep = new Set<Sleeper>()

  /** Stands at this time from now on. Sleeping takes its real time. */
  stand(at: number): void {
    this.#standing = at
  }

  /** Wakes now what would wake within this many milliseconds. The time does not change. */
  wake(millis: number): void {
    const until = performance.now() + millis
    for (const sleeper of [...this.#asleep]) if (sleeper.until <= until) sleeper.wake()
  }

  currentTimeMillisUnsafe(): number {
    return this.#standing ?? Date.now()
  }

  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.floor(this.currentTimeMillisUnsafe())) * 1_000_000n
  }

  monotonicTimeNanosUnsafe(): bigint {
    return process.hrtime.bigint()
  }

  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const millis = Math.min(longest, Duration.toMillis(duration))
      const leave = () => {
        clearTimeout(timer)
        this.#asleep.delete(sleeper)
      }
      const sleeper: Sleeper = {
        until: performance.now() + millis,
        wake: () => {
          leave()
          resume(Effect.void)
        }
      }
      const timer = setTimeout(sleeper.wake, millis)
      this.#asleep.add(sleeper)
      return Effect.sync(leave)
    })
  }
}

/**
 * The clock of a simulation. It stands still until `advance`, which takes no real time and runs everything that is due.
 *
 * Time advances in steps, and what is due within a step runs at its end, in the order in which it is due. So an hour in
 * which loops look for work every second costs sixty looks, not 3,600; a timer is late by a step at most, as on a
 * machine that is busy.
 */
import { Clock, Context, Duration, Effect, Layer, Scheduler } from "effect"
import { TestClock } from "effect/testing"

/** The number of steps of `advance` without a length of one. */
const steps = 60

/** When simulations begin. */
const beginning = Date.UTC(2026, 0, 1)

export class SimulatedTime extends Context.Service<
  SimulatedTime,
  {
    /** Lets this time pass, and is done when everything that was due has run. A step is 1/60 of it unless given. */
    readonly advance: (time: Duration.Input, step?: Duration.Input) => Effect.Effect<void>
    /** A sleep that ends to the millisecond, whatever the step is: for work that a lease or a deadline bounds. */
    readonly exactly: (time: Duration.Duration) => Effect.Effect<void>
  }
>()("@narthex/core/testing/SimulatedTime") {
  /** Also provides the clock and the scheduler themselves. */
  static readonly layer: Layer.Layer<SimulatedTime> = Layer.effectContext(
    Effect.gen(function* () {
      // The warning about time that does not pass would appear in every test that waits for the platform's
      // cryptography.
      const built = yield* Layer.build(TestClock.layer({ warningDelay: "1 hour" }))
      const clock = yield* Effect.provideContext(TestClock.testClockWith(Effect.succeed), built)
      yield* clock.setTime(beginning)

      let step = 0
      let from = beginning
      /** The end of the step in which this instant lies. */
      const endOfStep = (instant: number) => (step === 0 ? instant : from + Math.ceil((instant - from) / step) * step)

      const stepped: Clock.Clock = {
        ...clock,
        sleep: (duration) =>
          Effect.suspend(() => {
            const now = clock.currentTimeMillisUnsafe()
            const end = now + Duration.toMillis(duration)
            return clock.sleep(Number.isFinite(end) ? Duration.millis(endOfStep(end) - now) : duration)
          })
      }

      const advance = Effect.fnUntraced(function* (time: Duration.Input, chosen?: Duration.Input) {
        const length = Duration.toMillis(Duration.fromInputUnsafe(time))
        from = clock.currentTimeMillisUnsafe()
        step = chosen === undefined ? length / steps : Duration.toMillis(Duration.fromInputUnsafe(chosen))
        // Promises of the platform, such as cryptography, get a turn before and after.
        yield* Effect.ensuring(
          Effect.andThen(Effect.andThen(Effect.yieldNow, clock.adjust(length)), Effect.yieldNow),
          Effect.sync(() => {
            step = 0
          })
        )
      })

      return Context.make(SimulatedTime, SimulatedTime.of({ advance, exactly: clock.sleep })).pipe(
        Context.add(Clock.Clock, stepped),
        Context.add(Scheduler.Scheduler, Context.get(built, Scheduler.Scheduler))
      )
    })
  )
}

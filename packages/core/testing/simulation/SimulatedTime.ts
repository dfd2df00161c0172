/**
 * The clock of a simulation. It stands still until `advance`, which takes no real time and runs everything that is due.
 *
 * Time jumps from one due sleep to the next. Sleeps that are due within a step end with the step, in the order in which
 * they are due. So an hour in which loops look for work every second costs no 3,600 looks; a timer is late by a step at
 * most, as on a machine that is busy.
 *
 * While nothing happens, loops that look for work rest: they look in steps 1, 2 and 4, then in every fourth, and at the
 * end of `advance` in any case. If the caller chose the step, they look in every step.
 */
import { Clock, Context, Duration, Effect, Layer, Scheduler } from "effect"
import { TestClock } from "effect/testing"

/** The number of steps of `advance` without a length of one. */
const steps = 60

/** The most steps between two looks of a loop. */
const longestRest = 4

/** When simulations begin. */
const beginning = Date.UTC(2026, 0, 1)

/** An `advance` that is running, in milliseconds. */
interface Passing {
  readonly from: number
  readonly to: number
  readonly step: number
  /** Loops may rest while nothing happens. */
  readonly resting: boolean
}

export class SimulatedTime extends Context.Service<
  SimulatedTime,
  {
    /**
     * Lets this time pass, and is done when everything that was due has run. A step is 1/60 of it unless given; loops
     * rest while nothing happens, unless it is given.
     */
    readonly advance: (time: Duration.Input, step?: Duration.Input) => Effect.Effect<void>
    /** A sleep that ends to the millisecond, whatever the step is: for work that a lease or a deadline bounds. */
    readonly exactly: (time: Duration.Duration) => Effect.Effect<void>
    /** Notes that something happens: loops look in every step again. */
    readonly happens: Effect.Effect<void>
    /** How many sleeps have ended: what the time that has passed has cost. */
    readonly wakeUps: Effect.Effect<number>
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

      let passing: Passing | undefined
      let happened = beginning
      let woken = 0
      /** When the latest sleep of each length ended: a loop sleeps for the same time again at once. */
      const ended = new Map<number, number>()

      const happens = Effect.sync(() => {
        happened = clock.currentTimeMillisUnsafe()
      })

      /** When a sleep ends that begins now. */
      const endOf = (length: number): number => {
        const now = clock.currentTimeMillisUnsafe()
        const due = now + length
        if (passing === undefined || due >= passing.to) return due
        const { from, resting, step, to } = passing
        const endOfStep = (instant: number) => from + Math.ceil((instant - from) / step) * step
        const isLoop = resting && length < step && ended.get(length) === now
        const quiet = Math.min(longestRest, Math.floor((now - Math.max(happened, from)) / step))
        return Math.min(to, endOfStep(isLoop && quiet > 1 ? now + quiet * step : due))
      }

      const stepped: Clock.Clock = {
        ...clock,
        sleep: (duration) =>
          Effect.suspend(() => {
            const length = Duration.toMillis(duration)
            if (!Number.isFinite(length)) return clock.sleep(duration)
            const time = Duration.millis(endOf(length) - clock.currentTimeMillisUnsafe())
            return Effect.tap(clock.sleep(time), () =>
              Effect.sync(() => {
                woken += 1
                ended.set(length, clock.currentTimeMillisUnsafe())
              })
            )
          })
      }

      const advance = Effect.fnUntraced(function* (time: Duration.Input, chosen?: Duration.Input) {
        const length = Duration.toMillis(Duration.fromInputUnsafe(time))
        const from = clock.currentTimeMillisUnsafe()
        const step = chosen === undefined ? length / steps : Duration.toMillis(Duration.fromInputUnsafe(chosen))
        passing = { from, to: from + length, step, resting: chosen === undefined }
        // Promises of the platform, such as cryptography, get a turn before and after.
        yield* Effect.ensuring(
          Effect.andThen(Effect.andThen(Effect.yieldNow, clock.adjust(length)), Effect.yieldNow),
          Effect.sync(() => {
            passing = undefined
          })
        )
      })

      const wakeUps = Effect.sync(() => woken)
      return Context.make(SimulatedTime, SimulatedTime.of({ advance, exactly: clock.sleep, happens, wakeUps })).pipe(
        Context.add(Clock.Clock, stepped),
        Context.add(Scheduler.Scheduler, Context.get(built, Scheduler.Scheduler))
      )
    })
  )
}

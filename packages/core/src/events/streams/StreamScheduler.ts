/** Port: the event loop and the clock of the host. The broker is synchronous and does its deferred work through it. */
import { Clock, Context, Effect, Layer, Random, Scheduler } from "effect"

export class StreamScheduler extends Context.Service<
  StreamScheduler,
  {
    /** Milliseconds of the wall clock. */
    readonly now: () => number
    /** At least 0, less than 1. */
    readonly random: () => number
    /** Runs the task once, in a later turn of the event loop. */
    readonly soon: (task: () => void) => void
    /** Runs the task every so many milliseconds, until the returned function is called. */
    readonly every: (millis: number, task: () => void) => () => void
  }
>()("@narthex/core/events/StreamScheduler") {
  /** The event loop and clock that Effect itself runs on. */
  static readonly layer: Layer.Layer<StreamScheduler> = Layer.effect(
    StreamScheduler,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const random = yield* Random.Random
      const dispatcher = (yield* Scheduler.Scheduler).makeDispatcher()
      const run = Effect.runForkWith(yield* Effect.context<never>())
      return {
        now: () => clock.currentTimeMillisUnsafe(),
        random: () => random.nextDoubleUnsafe(),
        soon: (task) => dispatcher.scheduleTask(task, 0),
        every: (millis, task) => {
          const fiber = run(Effect.forever(Effect.andThen(Effect.sleep(millis), Effect.sync(task))))
          return () => fiber.interruptUnsafe()
        }
      }
    })
  )
}

/**
 * Ports of the broker: where a stream's bytes go, and what makes the broker run.
 *
 * The broker itself is synchronous. A sink is one connection; the scheduler is the host's event loop and clock.
 */
import { Clock, Context, Effect, Layer, Random, Scheduler } from "effect"
import type { SseBytes } from "./SseBytes.ts"

export interface StreamSink {
  /** Takes the bytes, always; `false` when it is full and the next write has to wait for `onDrain`. */
  readonly write: (bytes: SseBytes) => boolean
  /** Bytes taken that did not leave this host's memory yet, as far as it knows. */
  readonly buffered: () => number
  /** No more writes: send what was taken, then close. */
  readonly end: () => void
  /** Close now. */
  readonly destroy: () => void
  /** Calls back whenever there is room again. Never from within `write`. */
  readonly onDrain: (callback: () => void) => void
  /** Calls back once when the connection is gone, whoever closed it. Never from within a call of the broker. */
  readonly onClose: (callback: () => void) => void
}

export class StreamScheduler extends Context.Service<
  StreamScheduler,
  {
    /** Milliseconds of the wall clock. */
    readonly now: () => number
    /** At least 0, less than 1. */
    readonly random: () => number
    /** Runs the task once, in a later turn of the event loop. */
    readonly soon: (task: () => void) => void
    /** Runs the task again and again until cancelled. */
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

/**
 * Waits for the end of a fiber, for at most a number of milliseconds; `false` when it has not ended then. It waits in
 * uninterruptible regions too, and leaves the fiber alone.
 */
import { Clock, Effect, type Fiber } from "effect"

export const endsWithin = Effect.fnUntraced(function* (fiber: Fiber.Fiber<unknown, unknown>, millis: number) {
  const end = (yield* Clock.currentTimeMillis) + millis
  while (fiber.pollUnsafe() === undefined) {
    if ((yield* Clock.currentTimeMillis) >= end) return false
    yield* Effect.sleep(2)
  }
  return true
})

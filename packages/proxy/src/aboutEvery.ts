/** A schedule with ±10 % of play, so that many proxies do not ask in step. */
import { Duration, Effect, Random, Schedule } from "effect"

export const aboutEvery = (interval: Duration.Duration) =>
  Schedule.spaced(interval).pipe(
    Schedule.modifyDelay(({ duration }) =>
      Effect.map(Random.next, (random) => Duration.millis(Duration.toMillis(duration) * (0.9 + 0.2 * random)))
    )
  )

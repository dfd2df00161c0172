/**
 * Work for one key is under way once; whoever comes meanwhile waits for the same result.
 *
 * The work runs in the proxy's scope, not in the caller's fiber: a caller that leaves detaches only itself.
 */
import { Deferred, Duration, Effect, Random, Schedule, type Scope } from "effect"

export interface SingleFlight<A, E> {
  readonly join: (key: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

export const makeSingleFlight = <A, E>(): Effect.Effect<SingleFlight<A, E>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const flights = new Map<string, Deferred.Deferred<A, E>>()
    const start = (key: string, work: Effect.Effect<A, E>) => {
      const flight = Deferred.makeUnsafe<A, E>()
      flights.set(key, flight)
      return work.pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            flights.delete(key)
            Deferred.doneUnsafe(flight, exit)
          })
        ),
        Effect.forkIn(scope),
        Effect.as(flight)
      )
    }
    return {
      join: (key, work) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(
            Effect.suspend(() => {
              const underWay = flights.get(key)
              return underWay === undefined ? start(key, work) : Effect.succeed(underWay)
            }),
            (flight) => restore(Deferred.await(flight))
          )
        )
    }
  })

/** Every interval, with ±10 % of jitter, so that many proxies do not ask in step. */
export const jittered = (interval: Duration.Duration) =>
  Schedule.spaced(interval).pipe(
    Schedule.modifyDelay(({ duration }) =>
      Effect.map(Random.next, (random) => Duration.millis(Duration.toMillis(duration) * (0.9 + 0.2 * random)))
    )
  )

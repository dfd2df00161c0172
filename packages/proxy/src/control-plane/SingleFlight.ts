/**
 * Two ways to limit the load on the control plane: concurrent requests for one key share a call, and periodic requests
 * have jitter.
 */
import { Deferred, Duration, Effect, Random, Schedule, type Scope } from "effect"

export interface SingleFlight<A, E> {
  /**
   * Waits for the running work of the key, or starts `work` if there is none. The work runs in the scope of
   * `makeSingleFlight`, not in the fiber of the caller: interrupting a caller does not interrupt the work.
   */
  readonly join: (key: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** As `join`, but waits for the end of work that began before the call, and joins none of it. */
  readonly again: (key: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
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
        // Work that waits for nothing, as from memory, ends before a caller waits.
        Effect.forkIn(scope, { startImmediately: true }),
        Effect.as(flight)
      )
    }
    const join: SingleFlight<A, E>["join"] = (key, work) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          Effect.suspend(() => {
            const running = flights.get(key)
            return running === undefined ? start(key, work) : Effect.succeed(running)
          }),
          (flight) => restore(Deferred.await(flight))
        )
      )
    return {
      join,
      again: (key, work) =>
        Effect.suspend(() => {
          const running = flights.get(key)
          const over = running === undefined ? Effect.void : Effect.exit(Deferred.await(running))
          return Effect.andThen(over, join(key, work))
        })
    }
  })

/** A schedule with ±10 % of jitter, so that the requests of many proxies spread out. */
export const jittered = (interval: Duration.Duration) =>
  Schedule.spaced(interval).pipe(
    Schedule.modifyDelay(({ duration }) =>
      Effect.map(Random.next, (random) => Duration.millis(Duration.toMillis(duration) * (0.9 + 0.2 * random)))
    )
  )

/**
 * Two ways to limit the load on the control plane: concurrent requests for one key share a call, and periodic requests
 * have jitter.
 */
import { Duration, Effect, Random, Schedule, type Scope } from "effect"
import { type Cancel, makeRun, type OnExit } from "./Run.ts"

export interface SingleFlight<A, E> {
  /**
   * Waits for the running work of the key, or starts `work` if there is none. The work runs in the scope of
   * `makeSingleFlight`: cancelling a wait does not interrupt it.
   */
  readonly wait: (key: string, work: Effect.Effect<A, E>, onExit: OnExit<A, E>) => Cancel
  /** As `wait`, for a fiber. */
  readonly join: (key: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** As `join`, but waits for the end of work that began before the call, and joins none of it. */
  readonly again: (key: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

export const makeSingleFlight = <A, E>(): Effect.Effect<SingleFlight<A, E>, never, Scope.Scope> =>
  Effect.map(makeRun, (run) => {
    /** The waiters for the work of each key. */
    const flights = new Map<string, Set<OnExit<A, E>>>()

    const waitFor = (flight: Set<OnExit<A, E>>, onExit: OnExit<A, E>): Cancel => {
      flight.add(onExit)
      return () => void flight.delete(onExit)
    }

    const wait: SingleFlight<A, E>["wait"] = (key, work, onExit) => {
      const running = flights.get(key)
      if (running !== undefined) return waitFor(running, onExit)
      const flight = new Set<OnExit<A, E>>()
      flights.set(key, flight)
      const cancel = waitFor(flight, onExit)
      run(work, (exit) => {
        flights.delete(key)
        for (const waiting of flight) waiting(exit)
      })
      return cancel
    }

    const join: SingleFlight<A, E>["join"] = (key, work) =>
      Effect.callback((resume) => Effect.sync(wait(key, work, resume)))

    return {
      wait,
      join,
      again: (key, work) => {
        const over = Effect.callback<void>((resume) => {
          const running = flights.get(key)
          if (running === undefined) return resume(Effect.void)
          return Effect.sync(waitFor(running, () => resume(Effect.void)))
        })
        return Effect.andThen(over, join(key, work))
      }
    }
  })

/** A schedule with ±10 % of jitter, so that the requests of many proxies spread out. */
export const jittered = (interval: Duration.Duration) =>
  Schedule.spaced(interval).pipe(
    Schedule.modifyDelay(({ duration }) =>
      Effect.map(Random.next, (random) => Duration.millis(Duration.toMillis(duration) * (0.9 + 0.2 * random)))
    )
  )

/** Counts the work that has a connection of a pool, and the work that waits for one or for its slot, and measures how long. */
import { Effect } from "effect"

export interface ConnectionUse {
  /** The most connections that may be open. */
  readonly total: number
  /** How many of them have no work. Each of these is open, or is opened when work needs it. */
  readonly idle: number
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number
}

/** `waited` is called with the seconds that work has waited when it has its connection. */
export const countingUse = (total: number, waited: (seconds: number) => void) => {
  let waiting = 0
  let used = 0

  /** Runs `work`, which uses one connection and calls `lent` as soon as it has it. */
  const borrowing = <A, E, R>(work: (lent: () => void) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        waiting += 1
        return { lent: false, since: performance.now() }
      }),
      (one) =>
        work(() => {
          one.lent = true
          waiting -= 1
          used += 1
          waited((performance.now() - one.since) / 1_000)
        }),
      (one) =>
        Effect.sync(() => {
          if (one.lent) used -= 1
          else waiting -= 1
        })
    )

  const use = Effect.sync((): ConnectionUse => ({ total, idle: Math.max(0, total - used), waiting }))
  return { borrowing, use }
}

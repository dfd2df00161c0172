/** A lock for each branch. Several branches are locked in one order, so that callers cannot deadlock. */
import type { BranchId } from "@narthex/core"
import { Effect, Semaphore } from "effect"

interface Held {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

/** Runs effects under the locks of branches. A lock exists while it is held or waited for. */
export const branchLocks = () => {
  const locks = new Map<BranchId, Held>()

  const one = <A, E, R>(effect: Effect.Effect<A, E, R>, branch: BranchId) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const lock = locks.get(branch) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
        lock.users++
        locks.set(branch, lock)
        return lock
      }),
      (lock) => lock.semaphore.withPermit(effect),
      (lock) =>
        Effect.sync(() => {
          lock.users--
          if (lock.users === 0) locks.delete(branch)
        })
    )

  return <A, E, R>(branches: ReadonlyArray<BranchId>, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    [...new Set(branches)].sort().reduceRight(one<A, E, R>, effect)
}

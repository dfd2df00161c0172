/**
 * Reads that several requests need at the same time are made once: all that ask for one before it begins get its answer.
 *
 * A read begins in the next turn of the scheduler, after everything that asked for it. So each answer is as new as one that
 * was read for its request alone, and a revocation acts on the next request as if nothing were shared. No answer is kept.
 *
 * Pitfall: joining a read that has begun. It may not see what was committed before the request arrived.
 * Pitfall: reading in the fiber that asked first. Its client may leave, and the read of all others would end with it.
 * Pitfall: being interrupted between the entry of a read and its start. A fiber lets others run between any two steps, and
 * all later requests would wait for a read that nothing makes.
 */
import { inHostTransaction } from "@narthex/core"
import { Deferred, Effect } from "effect"

/** Makes a function that runs `read`, once for all calls with this key before it begins. */
export const sharing = <A, E>(): ((key: string, read: Effect.Effect<A, E>) => Effect.Effect<A, E>) => {
  const gathering = new Map<string, Deferred.Deferred<A, E>>()

  const begin = (key: string, read: Effect.Effect<A, E>, answer: Deferred.Deferred<A, E>) =>
    Effect.andThen(
      Effect.yieldNow,
      Effect.suspend(() => {
        gathering.delete(key)
        return Deferred.into(read, answer)
      })
    )

  const shared = (key: string, read: Effect.Effect<A, E>) =>
    Effect.uninterruptibleMask((restore) => {
      const gathered = gathering.get(key)
      if (gathered !== undefined) return restore(Deferred.await(gathered))
      const answer = Deferred.makeUnsafe<A, E>()
      gathering.set(key, answer)
      return Effect.andThen(
        Effect.forkDetach(Effect.interruptible(begin(key, read, answer))),
        restore(Deferred.await(answer))
      )
    })

  // What a host's transaction has not committed yet is for its own requests alone.
  return (key, read) => Effect.flatMap(inHostTransaction, (hosted) => (hosted ? read : shared(key, read)))
}

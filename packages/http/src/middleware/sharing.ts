/**
 * Reads that several requests need at the same time are made once. Each request that asks before a read begins gets its
 * answer.
 *
 * Reads begin in the next turn of the scheduler, all of a turn together, after everything that asked for them. So each
 * answer is as new as one that was read for its request alone, and a revocation acts on the next request as if nothing were
 * shared. No answer is kept. A store sends the reads that begin together in one write.
 *
 * A read that one request asked for runs in the fiber of that request, and ends with it.
 *
 * Pitfall: joining a read that has begun. It may not see what was committed before the request arrived.
 * Pitfall: reading for several requests in the fiber of one. Its client may leave, and the read of all others would end with it.
 */
import { inHostTransaction } from "@narthex/core"
import { type Context, Effect } from "effect"

interface Gathered<A, E> {
  readonly read: Effect.Effect<A, E>
  /** The context of the request that asked first. */
  readonly context: Context.Context<never>
  /** The requests that wait. Each takes the answer, or the read itself. */
  readonly askers: Set<(answer: Effect.Effect<A, E>) => void>
}

/** Makes a function that runs `read`, once for all calls with this key before it begins. */
export const sharing = <A, E>(): ((key: string, read: Effect.Effect<A, E>) => Effect.Effect<A, E>) => {
  let gathering = new Map<string, Gathered<A, E>>()

  const begin = () => {
    const begun = gathering
    gathering = new Map()
    for (const { askers, context, read } of begun.values()) {
      const [only, ...others] = askers
      if (only !== undefined && others.length === 0) only(read)
      else
        Effect.runForkWith(context)(read).addObserver((exit) => {
          for (const asker of askers) asker(exit)
        })
    }
  }

  const shared = (key: string, read: Effect.Effect<A, E>) =>
    Effect.withFiber<A, E>((fiber) =>
      Effect.callback((resume) => {
        if (gathering.size === 0) fiber.currentDispatcher.scheduleTask(begin, 0)
        const gathered: Gathered<A, E> = gathering.get(key) ?? { read, context: fiber.context, askers: new Set() }
        gathering.set(key, gathered)
        gathered.askers.add(resume)
        return Effect.sync(() => {
          gathered.askers.delete(resume)
          if (gathered.askers.size === 0 && gathering.get(key) === gathered) gathering.delete(key)
        })
      })
    )

  // Uncommitted changes of a host's transaction are visible to its own requests alone.
  return (key, read) => Effect.flatMap(inHostTransaction, (hosted) => (hosted ? read : shared(key, read)))
}

/**
 * The slots of requests at the connections of a pool (docs/design/api.md A33). A credential has half of them at most. Where all
 * are taken, the credentials that wait are served in turn.
 *
 * Connections are what requests compete for: a request that waits for a lock holds one. The platform's own work takes no slot,
 * and has the connections beyond the slots.
 *
 * Pitfall: taking a slot inside a transaction. It has its connection, and would wait for a slot that it holds itself.
 */
import { Requester } from "@narthex/core"
import { Effect, PartitionedSemaphore, Semaphore } from "effect"
import { limited, type NotDone } from "./Attempt.ts"

/** A fifth of the connections is for the platform: of 20 connections 16 are slots, and 8 of them a credential's. */
export const slotsOf = (connections: number) => {
  const all = Math.max(1, connections - Math.ceil(connections / 5))
  return { all, per_credential: Math.ceil(all / 2) }
}

/** A semaphore for each key, kept while it has users. */
const keyed = (permits: number) => {
  const keys = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return <A, E, R>(key: string, use: (own: Semaphore.Semaphore) => Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const own = keys.get(key) ?? { semaphore: Semaphore.makeUnsafe(permits), users: 0 }
        keys.set(key, own)
        own.users += 1
        return own
      }),
      ({ semaphore }) => use(semaphore),
      (own) =>
        Effect.sync(() => {
          own.users -= 1
          if (own.users === 0) keys.delete(key)
        })
    )
}

/**
 * Makes a function that runs work, which uses one connection, when its requester has a slot. `refused` makes the error of work
 * that has waited as long as a statement may take, for the work of its own credential and for a slot together.
 */
export const takingSlots = (connections: number) => {
  const { all, per_credential } = slotsOf(connections)
  const slots = PartitionedSemaphore.makeUnsafe<string>({ permits: all })
  const ofCredential = keyed(per_credential)

  /** Takes both in order, and adds to `held` how to give each back. */
  const take = (requester: string, own: Semaphore.Semaphore, held: Array<Effect.Effect<unknown>>) => {
    const both = [
      [own.take(1), own.release(1)],
      [slots.take(requester, 1), slots.release(1)]
    ] as const
    const taking = Effect.forEach(both, ([taken, release]) =>
      // Pitfall: noting a permit after an interruption. A permit that is granted as the wait ends would be lost.
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(
          restore(taken),
          Effect.sync(() => held.push(release))
        )
      )
    )
    return limited(taking)
  }

  return <A, E, R, E2>(work: Effect.Effect<A, E, R>, refused: (cause: NotDone) => E2): Effect.Effect<A, E | E2, R> =>
    Effect.withFiber((fiber): Effect.Effect<A, E | E2, R> => {
      const requester = fiber.getRef(Requester)
      if (requester === null) return work
      return ofCredential(requester, (own) =>
        Effect.suspend(() => {
          const held: Array<Effect.Effect<unknown>> = []
          return Effect.ensuring(
            Effect.andThen(Effect.mapError(take(requester, own, held), refused), work),
            Effect.suspend(() => Effect.all(held))
          )
        })
      )
    })
}

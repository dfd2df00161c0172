/**
 * The slots of requests at the connections of a pool (docs/design/api.md A33). A credential has half of them at most. Where all
 * are taken, the credentials that wait are served in turn.
 *
 * Connections are what requests compete for: a request that waits for a lock holds one. The platform's own work takes no slot,
 * and finds the connections that are none.
 *
 * Pitfall: taking a slot inside a transaction. It has its connection, and would wait for a slot that it holds itself.
 */
import { Requester } from "@narthex/core"
import { Effect, Exit, PartitionedSemaphore, Semaphore } from "effect"
import { limited, type NotDone } from "./Attempt.ts"

/** A fifth of the connections is for the platform: of 20 connections 16 are slots, and 8 of them a credential's. */
export const slotsOf = (connections: number) => {
  const all = Math.max(1, connections - Math.ceil(connections / 5))
  return { all, per_credential: Math.ceil(all / 2) }
}

/** Runs work of each key with so many others of the key at once. A key is kept while it has work. */
const atOnce = (count: number) => {
  const keys = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return <A, E, R>(key: string, work: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const own = keys.get(key) ?? { semaphore: Semaphore.makeUnsafe(count), users: 0 }
        keys.set(key, own)
        own.users += 1
        return own
      }),
      ({ semaphore }) => semaphore.withPermit(work),
      (own) =>
        Effect.sync(() => {
          own.users -= 1
          if (own.users === 0) keys.delete(key)
        })
    )
}

/**
 * Makes a function that runs work, which uses one connection, when its requester has a slot. `refused` makes the error of work
 * that has waited as long as a statement may take.
 */
export const takingSlots = (connections: number) => {
  const { all, per_credential } = slotsOf(connections)
  const slots = PartitionedSemaphore.makeUnsafe<string>({ permits: all })
  const ofCredential = atOnce(per_credential)

  const take = (requester: string) =>
    Effect.suspend(() => {
      let taken = false
      const taking = Effect.uninterruptibleMask((restore) =>
        Effect.tap(restore(slots.take(requester, 1)), () =>
          Effect.sync(() => {
            taken = true
          })
        )
      )
      // A slot that was granted together with the end of the wait.
      return Effect.onExit(limited(taking), (exit) => (taken && Exit.isFailure(exit) ? slots.release(1) : Effect.void))
    })

  return <A, E, R, E2>(work: Effect.Effect<A, E, R>, refused: (cause: NotDone) => E2): Effect.Effect<A, E | E2, R> =>
    Effect.withFiber((fiber): Effect.Effect<A, E | E2, R> => {
      const requester = fiber.getRef(Requester)
      if (requester === null) return work
      const withSlot = Effect.uninterruptibleMask((restore) =>
        Effect.andThen(
          Effect.mapError(restore(take(requester)), refused),
          Effect.ensuring(restore(work), slots.release(1))
        )
      )
      return ofCredential(requester, withSlot)
    })
}

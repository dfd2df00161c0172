/**
 * The turns in which requesters use the connections of a pool (docs/design/api.md A33).
 *
 * Connections are what requests compete for: a request that waits for a lock holds one. The platform's own work takes no
 * turns, and finds the connections that are no places.
 *
 * Pitfall: taking a place inside a transaction. It has its connection, and would wait for a place that it holds itself.
 */
import { Requester, type RequesterFacts, type TurnRules, type Turns } from "@narthex/core"
import { Effect, Exit } from "effect"
import { limited, NotDone } from "./Attempt.ts"

/**
 * A fifth of the connections is for the platform: of 20 connections 16 are places. A party has few of them, because some work
 * of this process follows each answer, and each step of another requester waits for the work after all answers that have come.
 * Of three, a credential leaves its party one.
 *
 * Pitfall: one place for a credential. A second call with an idempotency key would wait for the first instead of being refused.
 */
export const turnRulesOf = (connections: number): TurnRules => {
  const places = Math.max(1, connections - Math.ceil(connections / 5))
  const per_party = Math.max(1, Math.min(3, places - 1))
  return { places, per_party, per_credential: Math.min(2, per_party), waiting: 500 }
}

const tooMany = new NotDone({ message: "Too many statements of one requester wait for a connection." })

/**
 * Makes a function that runs work, which uses one connection, when it is its requester's turn. `refused` makes the error of
 * work that waits for too long, or with too many.
 */
export const takingTurns = (turns: Turns) => {
  const waitFor = (requester: RequesterFacts) =>
    Effect.suspend(() => {
      let granted = false
      return limited(
        Effect.callback<void, NotDone>((resume) => {
          const leave = turns.wait(requester, () => {
            granted = true
            resume(Effect.void)
          })
          if (leave === undefined) resume(Effect.fail(tooMany))
          else return Effect.sync(leave)
        })
      ).pipe(
        // A place that was granted together with the end of the wait.
        Effect.onExit((exit) => Effect.sync(() => granted && Exit.isFailure(exit) && turns.give(requester)))
      )
    })

  return <A, E, R, E2>(work: Effect.Effect<A, E, R>, refused: (cause: NotDone) => E2): Effect.Effect<A, E | E2, R> =>
    Effect.withFiber((fiber): Effect.Effect<A, E | E2, R> => {
      const requester = fiber.getRef(Requester)
      if (requester === null) return work
      return Effect.uninterruptibleMask((restore) => {
        const held = Effect.ensuring(
          restore(work),
          Effect.sync(() => turns.give(requester))
        )
        return turns.tryTake(requester)
          ? held
          : Effect.andThen(Effect.mapError(restore(waitFor(requester)), refused), held)
      })
    })
}

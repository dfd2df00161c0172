/**
 * The turns in which requesters use the connections of a pool (docs/design/api.md A33).
 *
 * Connections are what requests compete for: a request that waits for a lock holds one. So a party, and each of its
 * credentials, has a part of them at most, and those that wait have one turn each in a round. The platform's own work
 * takes no turns, and finds the connections that are no places.
 *
 * The semaphores of Effect have no limit for one of several parties, and none for what waits.
 *
 * Pitfall: turns of parties alone. A person who revokes a runaway API key would wait behind all that the key asks for.
 * Pitfall: taking a place inside a transaction. It has its connection, and would wait for a place that it holds itself.
 */
import { Requester, type RequesterFacts } from "@narthex/core"
import { Effect, Exit } from "effect"
import { limited, NotDone } from "./Attempt.ts"

export interface TurnRules {
  /** Connections that requesters may use at once. */
  readonly places: number
  /** Of these, how many one party may use at once, and one of its credentials. */
  readonly per_party: number
  readonly per_credential: number
  /** Statements and transactions of one credential that may wait. */
  readonly waiting: number
}

/**
 * Of 20 connections 16 are places, of which a party may have 8, and a credential 4. Few connections are divided less, so
 * that a credential may have 2 where there are as many, and leaves its party another one.
 */
export const turnRulesOf = (connections: number): TurnRules => {
  const places = Math.max(1, connections - Math.ceil(connections / 5))
  const per_party = Math.max(Math.ceil(places / 2), Math.min(places - 1, 3))
  return { places, per_party, per_credential: Math.min(per_party, Math.max(2, Math.ceil(per_party / 2))), waiting: 500 }
}

/** Whose turn it is. Everything happens at once, so a place is either free, held, or waited for. */
export class Turns {
  readonly #rules: TurnRules
  readonly #parties = new Map<string, number>()
  readonly #credentials = new Map<string, number>()
  /** What is called with a place, by party and credential. Of both the first that may have a place is next. */
  readonly #waiting = new Map<string, Map<string, Set<() => void>>>()
  #free: number

  constructor(rules: TurnRules) {
    this.#rules = rules
    this.#free = rules.places
  }

  /** Takes a place, if the requester may have one now. */
  tryTake(requester: RequesterFacts): boolean {
    if (!this.#mayHave(requester)) return false
    this.#hold(requester, 1)
    return true
  }

  /** Calls `granted` once the requester has a place. Returns what ends the wait; `undefined`: too many wait already. */
  wait({ credential, party }: RequesterFacts, granted: () => void): (() => void) | undefined {
    const queues = this.#waiting.get(party) ?? new Map<string, Set<() => void>>()
    const queue = queues.get(credential) ?? new Set()
    if (queue.size >= this.#rules.waiting) return undefined
    this.#waiting.set(party, queues.set(credential, queue.add(granted)))
    return () => {
      if (!queue.delete(granted) || queue.size > 0) return
      queues.delete(credential)
      if (queues.size === 0) this.#waiting.delete(party)
    }
  }

  /** Gives a place back, and with it the next one that waits its turn. */
  give(requester: RequesterFacts): void {
    this.#hold(requester, -1)
    for (const [party, queues] of this.#waiting)
      for (const [credential, queue] of queues) {
        const next = { party, credential }
        const [first, second] = queue
        if (first === undefined || !this.#mayHave(next)) continue
        queue.delete(first)
        // Both go to the end: all others have their turn before its next one.
        queues.delete(credential)
        if (second !== undefined) queues.set(credential, queue)
        this.#waiting.delete(party)
        if (queues.size > 0) this.#waiting.set(party, queues)
        this.#hold(next, 1)
        first()
        return
      }
  }

  #mayHave({ credential, party }: RequesterFacts): boolean {
    const { per_credential, per_party } = this.#rules
    return (
      this.#free > 0 &&
      (this.#parties.get(party) ?? 0) < per_party &&
      (this.#credentials.get(credential) ?? 0) < per_credential
    )
  }

  #hold({ credential, party }: RequesterFacts, by: 1 | -1): void {
    this.#free -= by
    bump(this.#parties, party, by)
    bump(this.#credentials, credential, by)
  }
}

const bump = (counts: Map<string, number>, key: string, by: 1 | -1) => {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
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

/**
 * Turns of requesters at something that all of them use (docs/design/api.md A33, A34): connections to the store, and turns of
 * the event loop.
 *
 * A party, and each of its credentials, has a part of the places at most, and those that wait have one turn each in a round.
 *
 * The semaphores of Effect have no limit for one of several parties, and none for what waits.
 *
 * Pitfall: turns of parties alone. A person who revokes a runaway API key would wait behind all that the key asks for.
 */
import type { RequesterFacts } from "./Requester.ts"

export interface TurnRules {
  /** What requesters may have at once. */
  readonly places: number
  /** Of these, how many one party may have at once, and one of its credentials. */
  readonly per_party: number
  readonly per_credential: number
  /** How many waits one credential may have. */
  readonly waiting: number
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

  /**
   * Calls `granted` once the requester has a place. Returns what ends the wait; `undefined`: too many wait already.
   *
   * Pitfall: waiting without another look. Between `tryTake` and this the last place may have been given back, and without one
   * that is held nothing would end the wait.
   */
  wait(requester: RequesterFacts, granted: () => void): (() => void) | undefined {
    if (this.tryTake(requester)) {
      granted()
      return () => undefined
    }
    const { credential, party } = requester
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
    const own = this.#waiting.get(requester.party)
    // While a place is free, what waits has as many as its own party may have.
    const able = this.#free <= 0 ? this.#waiting : own === undefined ? [] : [[requester.party, own] as const]
    this.#hold(requester, -1)
    for (const [party, queues] of able)
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

/**
 * How many fibers of a requester go on in one turn of the event loop (docs/design/api.md A34).
 *
 * What becomes possible at once would run in one turn: the requests that a client has sent together, and all waits for one
 * operation when it ends. Each step of another requester, of which a mutation has more than ten, would wait for all of them.
 * What waits here costs no turn anything.
 *
 * Pitfall: holding a place until the work is done. A wait that takes a minute would hold it, too; and what the work needs of
 * the store has turns of its own.
 */
import { Effect } from "effect"
import type { RequesterFacts } from "./Requester.ts"
import { type TurnRules, Turns } from "./Turns.ts"

/** Requests take about as long to begin as a turn takes without them, so fewer would keep a lone requester waiting. */
const ofATurn: TurnRules = { places: 32, per_party: 8, per_credential: 4, waiting: Number.POSITIVE_INFINITY }

/** Makes a function whose effects succeed in the turns of their requesters, and at once for `null`. */
export const pacing = (rules: TurnRules = ofATurn) => {
  const turns = new Turns(rules)
  let begun: Array<RequesterFacts> = []

  const end = () => {
    const ended = begun
    begun = []
    for (const requester of ended) turns.give(requester)
  }

  return (requester: RequesterFacts | null): Effect.Effect<void> =>
    Effect.withFiber((fiber) => {
      if (requester === null) return Effect.void
      const begin = () => {
        if (begun.length === 0) fiber.currentDispatcher.scheduleTask(end, 0)
        begun.push(requester)
      }
      if (turns.tryTake(requester)) {
        begin()
        return Effect.void
      }
      return Effect.callback((resume) => {
        const leave = turns.wait(requester, () => {
          begin()
          resume(Effect.void)
        })
        return leave && Effect.sync(leave)
      })
    })
}

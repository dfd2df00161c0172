/**
 * The rate at which an instance goes on with the calls of a requester (docs/design/api.md A35). A call over the rate waits for
 * its turn.
 *
 * A client that never pauses keeps an instance working with what no limit counts, and with what a limit refuses. Here it
 * waits, which costs nothing.
 *
 * Pitfall: counting in the storage, as the other limits do. Most calls are reads, and each would write.
 * Pitfall: one number for a whole second. A client would have all calls of a second at its beginning.
 * Pitfall: giving back at once what was taken at once. A party of which hundreds wait would begin as many calls together, again
 * and again, and a call of another party would wait behind all of them.
 */
import { type RequesterFacts, Turns } from "@narthex/core"
import { Duration, Effect, type Scope } from "effect"

export interface Rate {
  /** Calls in a second of one credential, and of its party with all credentials. */
  readonly per_credential: number
  readonly per_party: number
}

export type Turn = "at once" | "after a wait" | "too many wait"

export interface CallRate {
  /**
   * A credential is one of one party. Succeeds in the requester's turn; at once if as many calls of its credential wait as
   * may; at last after ten seconds.
   */
  readonly inTurn: (requester: RequesterFacts) => Effect.Effect<Turn>
  /** How many calls of one credential may wait. */
  readonly waiting: number
}

/** After a pause, as many calls go on at once as in so many seconds: one at least, which is the lowest rate, too. */
const burst = 0.5

const atOnce = (per_second: number) => Math.max(1, Math.round(per_second * burst))

/** So many seconds of a credential's rate may wait. */
const patience = 8

/** A wait ends after so long, for a party of which many credentials wait. */
const longest = Duration.seconds(10)

/**
 * When the calls of each key give back their places: one after another, at the rate. So as many go on at once as there are
 * places, and from then on one at a time. Times are milliseconds of the monotonic clock.
 */
const spacing = (per_second: number) => {
  const pause = Math.min(1_000 / per_second, 1_000 * burst)
  /** How many places each key has, and when the last of them is given back. */
  const held = new Map<string, { readonly places: number; readonly last: number }>()
  return {
    taken: (key: string, now: number): number => {
      const { last, places } = held.get(key) ?? { places: 0, last: 0 }
      const until = Math.max(now, last) + pause
      held.set(key, { places: places + 1, last: until })
      return until
    },
    given: (key: string): void => {
      const { last, places } = held.get(key) ?? { places: 0, last: 0 }
      if (places > 1) held.set(key, { places: places - 1, last })
      else held.delete(key)
    }
  }
}

export const callRate = (rate: Rate): Effect.Effect<CallRate, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const waiting = Math.ceil(Math.min(rate.per_credential, rate.per_party) * patience)
    const turns = new Turns({
      places: Number.POSITIVE_INFINITY,
      per_party: atOnce(rate.per_party),
      per_credential: atOnce(rate.per_credential),
      waiting
    })
    const [credentials, parties] = [spacing(rate.per_credential), spacing(rate.per_party)]

    const hold = (requester: RequesterFacts) =>
      Effect.clockWith((clock) => {
        const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
        const { credential, party } = requester
        const giveBack = Effect.sync(() => {
          credentials.given(credential)
          parties.given(party)
          turns.give(requester)
        })
        const taken = now()
        const held = Math.max(credentials.taken(credential, taken), parties.taken(party, taken)) - taken
        return Effect.forkIn(Effect.andThen(Effect.sleep(held), giveBack), scope)
      })

    const inTurn = (requester: RequesterFacts): Effect.Effect<Turn> =>
      Effect.uninterruptibleMask((restore) => {
        if (turns.tryTake(requester)) return Effect.as(hold(requester), "at once")
        let granted = false
        const turn = Effect.callback<Turn>((resume) => {
          const leave = turns.wait(requester, () => {
            granted = true
            resume(Effect.succeed("after a wait"))
          })
          if (leave === undefined) return resume(Effect.succeed("too many wait"))
          return Effect.sync(leave)
        })
        const bounded = Effect.timeoutOrElse(turn, {
          duration: longest,
          orElse: () => Effect.succeed<Turn>("too many wait")
        })
        // Also a call that is interrupted when its turn has come holds its place.
        return Effect.onExit(restore(bounded), () => (granted ? hold(requester) : Effect.void))
      })

    return { inTurn, waiting }
  })

/** Every call goes on at once. */
export const unlimited: CallRate = { inTurn: () => Effect.succeed("at once"), waiting: Number.POSITIVE_INFINITY }

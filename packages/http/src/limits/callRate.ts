/**
 * The rate at which an instance goes on with the calls of a requester (docs/design/api.md A35). A call over the rate waits for
 * its turn.
 *
 * A client that never pauses keeps an instance working with what no limit counts, and with what a limit refuses. Here it
 * waits, which costs nothing.
 *
 * Pitfall: counting in the storage, as the other limits do. Most calls are reads, and each would write.
 * Pitfall: one number for a whole second. A client would have all calls of a second at its beginning.
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
  /** Succeeds in the requester's turn; at once if as many calls of its credential wait as may; at last after ten seconds. */
  readonly inTurn: (requester: RequesterFacts) => Effect.Effect<Turn>
  /** How many calls of one credential may wait. */
  readonly waiting: number
}

/** A call has its place for so long, so this much of a second's calls go on together. */
const span = Duration.millis(250)

/** So many seconds of a credential's rate may wait. */
const patience = 8

/** A wait ends after so long, for a party of which many credentials wait. */
const longest = Duration.seconds(10)

/**
 * For how many milliseconds a call has its place: a span, and longer if another place of its party is given back just before.
 * As many calls as go on together at first come one at a time from then on. Times are those of the monotonic clock.
 *
 * Pitfall: giving back at once what was taken at once. A party of which hundreds wait would begin a span's calls together, in
 * each span, and a call of another party would wait behind all of them.
 */
const spacing = (places: number) => {
  const pause = Duration.toMillis(span) / places
  /** When the next place of a party may be given back. */
  const next = new Map<string, number>()
  return {
    taken: (party: string, now: number): number => {
      const until = Math.max(now + Duration.toMillis(span), next.get(party) ?? 0)
      next.set(party, until + pause)
      return until - now
    },
    given: (party: string, now: number): void => {
      if ((next.get(party) ?? 0) <= now + pause) next.delete(party)
    }
  }
}

/** At least one. */
const inSpan = (per_second: number) => Math.max(1, Math.round((per_second * Duration.toMillis(span)) / 1_000))

export const callRate = (rate: Rate): Effect.Effect<CallRate, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const waiting = Math.ceil(Math.min(rate.per_credential, rate.per_party) * patience)
    const turns = new Turns({
      places: Number.POSITIVE_INFINITY,
      per_party: inSpan(rate.per_party),
      per_credential: inSpan(rate.per_credential),
      waiting
    })

    const spaced = spacing(inSpan(rate.per_party))

    const hold = (requester: RequesterFacts) =>
      Effect.clockWith((clock) => {
        const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
        const giveBack = Effect.sync(() => {
          spaced.given(requester.party, now())
          turns.give(requester)
        })
        const held = spaced.taken(requester.party, now())
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

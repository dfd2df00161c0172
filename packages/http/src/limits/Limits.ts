/**
 * Counts calls against the rate limits, adds `RateLimit` and `RateLimit-Policy` to answers, and makes the 429.
 *
 * Which calls count against which limit is decided by their annotations and middleware.
 *
 * Pitfall: refusing when the store of the counters cannot be reached. Every limited call reads the same store and answers
 * 503 itself.
 */
import type { RateLimitedProblem } from "@narthex/api"
import {
  type AnyCaller,
  becauseOf,
  inHostTransaction,
  RateLimiter,
  type RequesterFacts,
  requesterAt,
  requesterOf,
  Transaction
} from "@narthex/core"
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { tooMany } from "../toProblem.ts"
import { type CallRate, callRate, type Rate, unlimited } from "./callRate.ts"
import { type LimitName, quotas, type RateLimitSettings, RateLimits } from "./RateLimits.ts"

export class Limits extends Context.Service<
  Limits,
  {
    /** Counts a call of this subject. Returns the 429 when it is over the limit, else `undefined`. */
    readonly take: (
      limit: LimitName,
      subject: string
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse | undefined, never, HttpServerRequest.HttpServerRequest>
    /** Waits for the turn of a call (docs/design/api.md A35): whether it had to. Fails when too many of its credential wait. */
    readonly begin: (caller: AnyCaller) => Effect.Effect<boolean, RateLimitedProblem>
    /** The same for a refresh, of which only the session is known, and not that it is still open. */
    readonly beginRefresh: (session: string) => Effect.Effect<boolean, RateLimitedProblem>
    /** Waits for the turn of a refusal of this address. Fails when too many wait. */
    readonly refuse: (address: string | null) => Effect.Effect<boolean, RateLimitedProblem>
  }
>()("@narthex/http/limits/Limits") {
  static readonly layer: Layer.Layer<Limits, never, RateLimiter | Transaction> = Layer.effect(
    Limits,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter
      const { apart } = yield* Transaction
      const settings = yield* RateLimits
      const [calls, refusals] =
        settings === null
          ? [unlimited, unlimited]
          : yield* Effect.all([callRate(rateOfCalls(settings)), callRate(rateOfRefusals(settings))])
      return Limits.of({
        begin: (caller) => inTurn("calls", calls, turnsOf(caller)),
        beginRefresh: (session) => inTurn("calls", calls, refreshesOf(session)),
        refuse: (address) => inTurn("failures", refusals, requesterAt(address)),
        take: Effect.fn("Limits.take")(function* (limit_name, subject) {
          if (settings === null) return undefined
          const [limit, window_seconds] = quotas[limit_name](settings)
          const now = yield* DateTime.now
          // A call that is rolled back with its host has been made all the same.
          const counted = apart(limiter.take({ limit_name, subject, limit, window_seconds, now, cost: 1 }))
          const taken = yield* Effect.catch(counted, (error) =>
            Effect.logWarning("A call could not be counted against its rate limit.").pipe(
              becauseOf(error),
              Effect.as(undefined)
            )
          )
          if (taken === undefined) return undefined
          yield* announce({
            "ratelimit-policy": `"${limit_name}";q=${limit};w=${window_seconds}`,
            ratelimit: `"${limit_name}";r=${taken.remaining};t=${taken.reset_seconds}`
          })
          return taken.allowed ? undefined : yield* refusal(limit_name, limit, window_seconds, taken.reset_seconds)
        })
      })
    })
  )
}

/**
 * A person's sessions and API keys are two parties.
 *
 * Pitfall: one party. A person who revokes API keys that make calls without end would wait behind those of all of them.
 */
const turnsOf = (caller: AnyCaller): RequesterFacts => {
  const { credential, party } = requesterOf(caller)
  return { party: `${caller.kind} ${party}`, credential }
}

/**
 * The refreshes of a session are a party and a credential of their own.
 *
 * Pitfall: the credential of its calls. Their places are given back to what waits in their own party, and a refresh would wait
 * for one that never comes.
 */
const refreshesOf = (session: string): RequesterFacts => {
  const refreshes = `refresh ${session}`
  return { party: refreshes, credential: refreshes }
}

const rateOfCalls = ({ calls_per_second, person_calls_per_second }: RateLimitSettings): Rate => ({
  per_credential: calls_per_second,
  per_party: person_calls_per_second
})

/** An address is a party with one credential. */
const rateOfRefusals = ({ failures_per_minute }: RateLimitSettings): Rate => ({
  per_credential: failures_per_minute / 60,
  per_party: failures_per_minute / 60
})

/** Before a call is refused because too many wait. */
const pause = Duration.seconds(1)

const inTurn = Effect.fnUntraced(function* (
  name: "calls" | "failures",
  { inTurn, waiting }: CallRate,
  requester: RequesterFacts
) {
  // A host's transaction holds its locks meanwhile.
  if (yield* inHostTransaction) return false
  const turn = yield* inTurn(requester)
  if (turn !== "too many wait") return turn === "after a wait"
  // A client that sends the next call with this answer would not wait at all.
  yield* Effect.sleep(pause)
  const message = `Too many calls wait for their turn at the limit \`${name}\`, of which ${waiting} may wait. Send fewer at once.`
  return yield* tooMany(name, { allowed: waiting, held: waiting, message, retry_after_seconds: 1 })
})

/** Adds list headers to the answer of the running request, a refusal included. A second limit is appended to the list. */
export const announce = (headers: Record<string, string>) =>
  HttpEffect.appendPreResponseHandler((_, response) => {
    const lists = Object.entries(headers).map(([name, item]) => {
      const before = response.headers[name]
      return [name, before === undefined ? item : `${before}, ${item}`] as const
    })
    return Effect.succeed(HttpServerResponse.setHeaders(response, Object.fromEntries(lists)))
  })

const refusal = (limit: LimitName, allowed: number, window_seconds: number, retry_after_seconds: number) => {
  const message = `${allowed} calls that count against \`${limit}\` are allowed in ${window_seconds} seconds. Retry after the time in Retry-After.`
  const problem = tooMany(limit, { allowed, held: allowed, message, retry_after_seconds })
  return Effect.orDie(HttpServerRespondable.toResponse(problem))
}

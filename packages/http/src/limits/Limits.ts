/**
 * Counts calls against the rate limits, adds `RateLimit` and `RateLimit-Policy` to answers, and makes the 429.
 *
 * Which calls count against which limit is decided by their annotations and middleware.
 *
 * Pitfall: refusing when the store of the counters cannot be reached. Every limited call reads the same store and answers
 * 503 itself.
 */
import type { RateLimitedProblem } from "@narthex/api"
import { type AnyCaller, becauseOf, inHostTransaction, RateLimiter, requesterOf, Transaction } from "@narthex/core"
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { tooMany } from "../toProblem.ts"
import { type LimitName, quotas, RateLimits } from "./RateLimits.ts"
import { TokenBuckets } from "./TokenBuckets.ts"

/** The limits that an instance keeps in memory. */
type Rated = "calls" | "failures"

type Refusable = Effect.Effect<void, RateLimitedProblem, HttpServerRequest.HttpServerRequest>

/**
 * Every method writes to the answer of the running request.
 *
 * @effect-expect-leaking HttpServerRequest
 */
export class Limits extends Context.Service<
  Limits,
  {
    /** Counts a call of this subject. Returns the 429 when it is over the limit, else `undefined`. */
    readonly take: (
      limit: LimitName,
      subject: string
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse | undefined, never, HttpServerRequest.HttpServerRequest>
    /** Fails when the calls of this credential are over their rate (docs/design/api.md A34). */
    readonly begin: (caller: AnyCaller) => Refusable
    /** The same for a refresh. Only the id of its session is known, and the session may have ended. */
    readonly beginRefresh: (session: string) => Refusable
    /** Fails when the failed authentications of this address are over their rate. */
    readonly fail: (address: string) => Refusable
  }
>()("@narthex/http/limits/Limits") {
  static readonly layer: Layer.Layer<Limits, never, RateLimiter | Transaction> = Layer.effect(
    Limits,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter
      const { apart } = yield* Transaction
      const settings = yield* RateLimits
      const calls = settings === null ? undefined : bucketsOf(settings.calls_per_second, callSeconds)
      const failures = settings === null ? undefined : bucketsOf(settings.failures_per_minute / 60, failureSeconds)

      /** Pitfall: one bucket for a session. Calls would use it up, and keep the session from a refresh. */
      const begin = (key: string): Refusable =>
        Effect.flatMap(inHostTransaction, (hosted) =>
          hosted || calls === undefined ? Effect.void : passing("calls", calls, callSeconds, key)
        )
      return Limits.of({
        begin: (caller) => begin(requesterOf(caller)),
        beginRefresh: (session) => begin(`refresh ${session}`),
        fail: (address) =>
          failures === undefined ? Effect.void : passing("failures", failures, failureSeconds, address, true),
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
          yield* announceRate(limit_name, limit, window_seconds, taken.remaining, taken.reset_seconds)
          if (taken.allowed) return undefined
          const problem = overRate(limit_name, limit, window_seconds, taken.reset_seconds)
          return yield* Effect.orDie(HttpServerRespondable.toResponse(problem))
        })
      })
    })
  )
}

/** A bucket of calls holds four seconds' worth: a page of the console makes about ten at once. A bucket of failures holds a minute's. */
const callSeconds = 4
const failureSeconds = 60

const bucketsOf = (per_second: number, seconds: number) =>
  new TokenBuckets({ per_second, burst: Math.max(1, Math.round(per_second * seconds)) })

/** Takes a token, or fails. Answers that pass say how many are left where `announced`. */
const passing = (name: Rated, buckets: TokenBuckets, seconds: number, key: string, announced = false): Refusable =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { remaining, wait } = buckets.take(key, now)
    if (wait === 0 && !announced) return Effect.void
    const { burst, per_second } = buckets.rate
    const reset = Math.max(1, Math.ceil(wait === 0 ? (burst - remaining) / per_second : wait / 1_000))
    const told = announceRate(name, burst, seconds, remaining, reset)
    return wait === 0 ? told : Effect.andThen(told, overRate(name, burst, seconds, reset))
  })

const announceRate = (name: LimitName | Rated, limit: number, seconds: number, remaining: number, reset: number) =>
  announce({
    "ratelimit-policy": `"${name}";q=${limit};w=${seconds}`,
    ratelimit: `"${name}";r=${remaining};t=${reset}`
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

const overRate = (limit: LimitName | Rated, allowed: number, window_seconds: number, retry_after_seconds: number) => {
  const message = `${allowed} calls that count against \`${limit}\` are allowed in ${window_seconds} seconds. Retry after the time in Retry-After.`
  return tooMany(limit, { allowed, held: allowed, message, retry_after_seconds })
}

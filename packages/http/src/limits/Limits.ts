/**
 * Counts calls against the rate limits, adds `RateLimit` and `RateLimit-Policy` to answers, and makes the 429.
 *
 * Which calls count against which limit is decided by their annotations and middleware.
 *
 * Pitfall: refusing when the store of the counters cannot be reached. Every limited call reads the same store and answers
 * 503 itself.
 */
import { becauseOf, RateLimiter, Transaction } from "@narthex/core"
import { Context, DateTime, Effect, Layer } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { tooMany } from "../toProblem.ts"
import { type LimitName, quotas, RateLimits } from "./RateLimits.ts"

export class Limits extends Context.Service<
  Limits,
  {
    /** Counts a call of this subject. Returns the 429 when it is over the limit, else `undefined`. */
    readonly take: (
      limit: LimitName,
      subject: string
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse | undefined, never, HttpServerRequest.HttpServerRequest>
  }
>()("@narthex/http/limits/Limits") {
  static readonly layer: Layer.Layer<Limits, never, RateLimiter | Transaction> = Layer.effect(
    Limits,
    Effect.map(Effect.all([RateLimiter, Transaction]), ([limiter, { apart }]) =>
      Limits.of({
        take: Effect.fn("Limits.take")(function* (limit_name, subject) {
          const settings = yield* RateLimits
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
    )
  )
}

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

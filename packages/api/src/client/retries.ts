/**
 * Sends a call again after a failure that may pass, if that is safe (docs/design/client.md L10–L15).
 *
 * 1. A call is safe if it reads, or if the server stores its answer under an `Idempotency-Key`. The client makes a key
 *    for each such call and keeps it over all attempts, so a lost answer leads to one effect.
 * 2. Each attempt has a bound, and so has the call with all its attempts and pauses.
 * 3. A pause is a back-off with jitter, and never shorter than `Retry-After`. A call whose next pause would exceed its
 *    bound fails at once.
 *
 * Pitfall: counting `idempotency_in_progress` as an attempt. The first attempt may hold the key for 30 s after its
 * process died, so a few attempts would end before the key is free again.
 */
import { Entropy } from "@narthex/core"
import { Clock, Context, Duration, Effect, Exit, Random } from "effect"
import { HttpClientError, HttpClientRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { NarthexError } from "../problems/NarthexError.ts"
import { NotReplayed } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { ClientHeaders } from "./ClientCredential.ts"
import { type Attempt, LastAttempt, noAttempt } from "./LastAttempt.ts"
import { retryAfterMillis } from "./retryAfter.ts"

/** All times are milliseconds. */
export interface RetrySettings {
  /** How often a call is sent again, at most. Default: 3. */
  readonly times?: number
  /** The first pause; each further one doubles, up to 5 s. Default: 200. */
  readonly delay?: number
  /** How long an attempt may take. The `wait` of a long poll is added. Default: 30,000. */
  readonly attempt?: number
  /** How long the call may take with all its attempts and pauses. Default: 90,000. */
  readonly within?: number
}

export const defaultRetries: Required<RetrySettings> = { times: 3, delay: 200, attempt: 30_000, within: 90_000 }

const longestPause = 5000

/**
 * Whether the server stores the answer under an `Idempotency-Key` (docs/design/api.md, Resources, lists, retries,
 * limits).
 */
const takesKey = (endpoint: HttpApiEndpoint.Top): boolean =>
  endpoint.method !== "GET" &&
  endpoint.method !== "HEAD" &&
  // Middlewares are listed by their classes, whose types the endpoint does not name.
  (endpoint.middlewares as ReadonlySet<unknown>).has(PolicyCheck) &&
  !Context.get(endpoint.annotations, NotReplayed)

/** The facts about a failed attempt that decide on a retry. */
export interface FailedAttempt {
  /** The status of the answer; `undefined`: no answer arrived, or it broke off. */
  readonly status: number | undefined
  readonly code: string | undefined
  /** Milliseconds. */
  readonly retryAfter: number | undefined
}

const passing: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

/** `again` counts against `times`; `wait`: the first attempt still runs, so asking again is limited by time alone. */
export const verdictOn = ({ code, status }: FailedAttempt): "again" | "wait" | "final" => {
  if (status === undefined) return "again"
  if (code === "idempotency_in_progress") return "wait"
  return passing.has(status) ? "again" : "final"
}

/**
 * The pause in milliseconds before the next attempt: half fixed, half jitter. `pauses`: those before it; `random`: from
 * 0 to 1.
 */
export const pauseBefore = (delay: number, pauses: number, retryAfter: number | undefined, random: number): number =>
  Math.max(retryAfter ?? 0, Math.round(Math.min(longestPause, delay * 2 ** Math.min(pauses, 20)) * (0.5 + random / 2)))

const hasNumber = (error: object, member: string): number | undefined => {
  const value: unknown = Reflect.get(error, member)
  return typeof value === "number" ? value : undefined
}

/** `undefined` for failures that no retry changes: a request that was not sent, an answer that does not fit. */
const failedAttempt = (error: unknown, { response }: Attempt, now: number): FailedAttempt | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  if (HttpClientError.isHttpClientError(error)) {
    const { reason } = error
    if (refusedByFetch(error) !== undefined) return undefined
    if (reason._tag === "TransportError") return { status: undefined, code: undefined, retryAfter: undefined }
    if (reason._tag === "DecodeError" || reason._tag === "EmptyBodyError")
      return reason.response.status < 400 ? { status: undefined, code: undefined, retryAfter: undefined } : undefined
    if (reason._tag !== "StatusCodeError") return undefined
    const { headers, status } = reason.response
    return { status, code: undefined, retryAfter: retryAfterMillis(headers["retry-after"], now) }
  }
  const status = hasNumber(error, "status")
  if (status === undefined) return undefined
  const code: unknown = Reflect.get(error, "code")
  return {
    status,
    code: typeof code === "string" ? code : undefined,
    retryAfter: retryAfterMillis(response?.headers["retry-after"], now) ?? hasNumber(error, "retry_after_ms")
  }
}

/** The cause of an attempt without an answer within its bound. */
class NoAnswer extends Error {
  override readonly name = "NoAnswer"
}

const noAnswer = (attempt: Attempt, limit: number) => {
  const description = `no answer within ${Math.round(limit)} ms`
  return new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({
      request: attempt.request ?? HttpClientRequest.get("/"),
      description,
      cause: new NoAnswer(description)
    })
  })
}

/** The error with which the program's own `fetch` refused to send the request (docs/design/client.md L30). */
export const refusedByFetch = ({ reason }: HttpClientError.HttpClientError): NarthexError | undefined =>
  reason._tag === "TransportError" && reason.cause instanceof NarthexError ? reason.cause : undefined

/** Whether an attempt exceeded its bound, in contrast to a connection that failed. */
export const exceededBound = ({ reason }: HttpClientError.HttpClientError): boolean =>
  reason._tag === "TransportError" && reason.cause instanceof NoAnswer

/** Repeats an attempt while its failure may pass. `safe`: a second attempt has no second effect. */
export const resent = <A, E, R>(
  settings: Required<RetrySettings>,
  safe: boolean,
  attempt: Effect.Effect<A, E, R>,
  patience = 0
): Effect.Effect<A, E | HttpClientError.HttpClientError, R> =>
  Effect.gen(function* () {
    const outer = yield* LastAttempt
    const begun = yield* Clock.monotonicTimeNanos
    const within = settings.within + patience
    let counted = 0
    for (let pauses = 0; ; pauses++) {
      const seen = noAttempt()
      const elapsed = Number((yield* Clock.monotonicTimeNanos) - begun) / 1_000_000
      const limit = Math.max(1, Math.min(settings.attempt + patience, within - elapsed))
      const exit = yield* attempt.pipe(
        Effect.timeoutOrElse({ duration: Duration.millis(limit), orElse: () => Effect.fail(noAnswer(seen, limit)) }),
        Effect.provideService(LastAttempt, seen),
        Effect.exit
      )
      if (outer !== undefined) Object.assign(outer, seen)
      if (Exit.isSuccess(exit) || !safe) return yield* exit
      const error = Exit.findErrorOption(exit)
      const now = yield* Clock.currentTimeMillis
      const failed = error._tag === "None" ? undefined : failedAttempt(error.value, seen, now)
      const verdict = failed === undefined ? "final" : verdictOn(failed)
      if (verdict === "final" || (verdict === "again" && counted >= settings.times)) return yield* exit
      if (verdict === "again") counted += 1
      const pause = pauseBefore(settings.delay, pauses, failed?.retryAfter, yield* Random.next)
      const spent = Number((yield* Clock.monotonicTimeNanos) - begun) / 1_000_000
      if (spent + pause >= within) return yield* exit
      yield* Effect.sleep(Duration.millis(pause))
    }
  })

const newKey = Effect.gen(function* () {
  const { bytes } = yield* Entropy
  return Array.from(yield* bytes(16), (byte) => byte.toString(16).padStart(2, "0")).join("")
})

/** A call of an endpoint with its retries, and with its idempotency key where the contract takes one. */
export const retrying = <A, E, R>(
  settings: Required<RetrySettings>,
  endpoint: HttpApiEndpoint.Top,
  call: Effect.Effect<A, E, R>,
  patience: number
): Effect.Effect<A, E | HttpClientError.HttpClientError, R> => {
  if (!takesKey(endpoint))
    return resent(settings, endpoint.method === "GET" || endpoint.method === "HEAD", call, patience)
  return Effect.gen(function* () {
    const { "idempotency-key": given, ...headers } = yield* ClientHeaders
    const key = given ?? (yield* newKey)
    const keyed = Effect.provideService(call, ClientHeaders, { ...headers, "idempotency-key": key })
    return yield* resent(settings, true, keyed, patience)
  })
}

/** Turns a failure of the Effect form into a `NarthexError`. */
import { Effect, Option, Schema } from "effect"
import { HttpClientError } from "effect/http"
import { clientFailure, NarthexError } from "../../problems/NarthexError.ts"
import { readProblem } from "../../problems/OtherProblem.ts"
import { bodyOfProblem } from "../../problems/Problems.ts"
import type { Attempt } from "../LastAttempt.ts"
import { exceededBound, refusedByFetch } from "../retries.ts"
import { retryAfterMillis } from "../retryAfter.ts"

/** The members that every problem and every refused stream has. */
const Refusal = Schema.Struct({
  status: Schema.Int,
  code: Schema.String,
  title: Schema.optional(Schema.String),
  detail: Schema.optional(Schema.String),
  request_id: Schema.optional(Schema.String),
  retry_after_ms: Schema.optional(Schema.Finite)
})
const readRefusal = Schema.decodeUnknownOption(Refusal)

const membersOf = (error: object) => {
  // Classes of problems are no plain structs, so the members are taken one by one; `Refusal` checks each.
  const { code, detail, request_id, retry_after_ms, status, title } = error as Record<string, unknown>
  return { code, detail, request_id, retry_after_ms, status, title }
}

const refused = (error: object, attempt: Attempt | undefined, now: number): NarthexError | undefined =>
  Option.match(readRefusal(membersOf(error)), {
    onNone: () => undefined,
    onSome: ({ code, detail, request_id, retry_after_ms, status, title }) => {
      const headers = attempt?.response?.headers
      return new NarthexError({
        code,
        status,
        title: title ?? detail ?? code,
        detail: detail ?? title,
        request_id: request_id ?? headers?.["x-request-id"],
        retry_after_ms: retryAfterMillis(headers?.["retry-after"], now) ?? retry_after_ms,
        body: Option.getOrElse(bodyOfProblem(error), () => membersOf(error)),
        cause: error
      })
    }
  })

const ofTransport = (
  error: HttpClientError.HttpClientError,
  attempt: Attempt | undefined,
  now: number
): Effect.Effect<NarthexError> => {
  const { response } = error
  const refusal = refusedByFetch(error)
  if (refusal !== undefined) return Effect.succeed(refusal)
  if (response === undefined) {
    return Effect.succeed(clientFailure(exceededBound(error) ? "timed_out" : "unreachable", { cause: error }))
  }
  if (response.status < 400)
    return Effect.succeed(clientFailure("unreadable_answer", { cause: error, status: response.status }))
  const unread = clientFailure("unreachable", { cause: error, status: response.status })
  return Effect.match(readProblem(response), {
    onFailure: () => unread,
    onSuccess: (problem) => refused(problem, attempt, now) ?? unread
  })
}

/** `attempt`: what the call saw of its answer; `now`: milliseconds since 1970, for a `Retry-After` that is a date. */
export const toNarthexError = (
  error: unknown,
  attempt: Attempt | undefined,
  now: number
): Effect.Effect<NarthexError> => {
  if (error instanceof NarthexError) return Effect.succeed(error)
  if (HttpClientError.isHttpClientError(error)) return ofTransport(error, attempt, now)
  if (Schema.isSchemaError(error)) {
    const status = attempt?.response?.status
    return Effect.succeed(
      clientFailure("unreadable_answer", { cause: error, ...(status === undefined ? {} : { status }) })
    )
  }
  const known = typeof error === "object" && error !== null ? refused(error, attempt, now) : undefined
  return Effect.succeed(known ?? clientFailure("unreadable_answer", { cause: error }))
}

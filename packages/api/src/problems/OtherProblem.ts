/**
 * A refusal that this version of the contract does not know: a code of a newer server, or an answer of an intermediary.
 *
 * Known problems reach callers of the typed client as their own classes. Without this class, every other refusal would
 * look like an answer that does not decode.
 */
import { Effect, Option, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { isProblemCode } from "./problemCatalog.ts"

export class OtherProblem extends Schema.TaggedError<OtherProblem>()("OtherProblem", {
  status: Schema.Int,
  /** `unknown` when the body is not a problem of this API. */
  code: Schema.String,
  title: Schema.String,
  detail: Schema.optionalKey(Schema.String),
  request_id: Schema.optionalKey(Schema.String),
  retry_after_ms: Schema.optionalKey(Schema.Int)
}) {
  override get message() {
    return this.detail ?? this.title
  }
}

/** The members that every problem of this API has. */
export const ProblemBody = Schema.fromJsonString(
  Schema.Struct({
    code: Schema.String,
    title: Schema.String,
    detail: Schema.optionalKey(Schema.String),
    request_id: Schema.optionalKey(Schema.String),
    retry_after_ms: Schema.optionalKey(Schema.Int)
  })
)

/** Reads the problem from a refusal; any other body becomes code `unknown`. */
export const readProblem = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<OtherProblem, HttpClientError.HttpClientError> =>
  Effect.map(response.text, (text) =>
    Option.match(Schema.decodeOption(ProblemBody)(text), {
      onNone: () =>
        new OtherProblem({
          status: response.status,
          code: "unknown",
          title: `The server answered with status ${response.status}.`
        }),
      onSome: (body) => new OtherProblem({ status: response.status, ...body })
    })
  )

/** Passes answers and known problems on, and fails with every other refusal. */
export const failOnOtherProblem = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError | OtherProblem> =>
  response.status < 400
    ? Effect.succeed(response)
    : Effect.flatMap(readProblem(response), (problem) =>
        isProblemCode(problem.code) ? Effect.succeed(response) : Effect.fail(problem)
      )

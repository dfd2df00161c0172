/**
 * A refusal that the contract does not know: a code of a newer server, or a page of something between us and it.
 *
 * Known problems reach callers of the typed client as their own classes; without this, everything else would look like
 * an answer that did not decode.
 */
import { Effect, Option, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { isProblemCode } from "./problemCatalog.ts"

export class OtherProblem extends Schema.TaggedError<OtherProblem>()("OtherProblem", {
  status: Schema.Int,
  /** `unknown` when the answer is no problem of ours. */
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

/** What every problem of ours has. */
export const ProblemBody = Schema.fromJsonString(
  Schema.Struct({
    code: Schema.String,
    title: Schema.String,
    detail: Schema.optionalKey(Schema.String),
    request_id: Schema.optionalKey(Schema.String),
    retry_after_ms: Schema.optionalKey(Schema.Int)
  })
)

/** The problem in a refusal. */
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

/** Lets answers and known problems pass. */
export const failOnOtherProblem = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError | OtherProblem> =>
  response.status < 400
    ? Effect.succeed(response)
    : Effect.flatMap(readProblem(response), (problem) =>
        isProblemCode(problem.code) ? Effect.succeed(response) : Effect.fail(problem)
      )

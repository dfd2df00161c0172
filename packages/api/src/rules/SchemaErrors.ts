/**
 * The middleware that answers requests that do not decode, and the mapping that it applies.
 *
 * A path parameter that does not decode is an unknown object, which is 404. JSON that does not parse is 400; JSON that
 * does not match the schema is 422. Messages name the member and what was expected, never the value.
 */
import { SchemaIssue } from "effect"
import { type HttpApiError, HttpApiMiddleware } from "effect/http-api"
import {
  BodyTooLargeProblem,
  InternalProblem,
  InvalidRequestProblem,
  MalformedRequestProblem,
  NotFoundProblem,
  type RequestIssue,
  UnsupportedMediaTypeProblem
} from "../problems/Problems.ts"

export class SchemaErrors extends HttpApiMiddleware.Service<SchemaErrors>()("@narthex/api/SchemaErrors", {
  error: [
    MalformedRequestProblem,
    NotFoundProblem,
    BodyTooLargeProblem,
    UnsupportedMediaTypeProblem,
    InvalidRequestProblem,
    InternalProblem
  ]
}) {}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const segment = (key: PropertyKey | { readonly key: PropertyKey }): string | number => {
  const name = typeof key === "object" ? key.key : key
  return typeof name === "number" ? name : String(name)
}

/** The only way in which Effect marks a body that is not JSON. A test compares it with the framework's message. */
const notJson = "Expected a valid JSON body"

/** The problem that answers a schema error; `undefined` when the answer of a handler did not encode. */
export const problemOfSchemaError = (
  error: HttpApiError.HttpApiSchemaError
): MalformedRequestProblem | NotFoundProblem | InvalidRequestProblem | undefined => {
  switch (error.kind) {
    case "Body":
    case "ResponseHeaders":
      return undefined
    case "Params":
      return new NotFoundProblem({})
    default: {
      const errors = format(error.cause.issue).issues.map(
        (issue): RequestIssue => ({ path: (issue.path ?? []).map(segment), message: issue.message })
      )
      return errors[0]?.message === notJson
        ? new MalformedRequestProblem({ detail: "The body is not valid JSON." })
        : new InvalidRequestProblem({ detail: sentence(errors), errors })
    }
  }
}

const sentence = (errors: ReadonlyArray<RequestIssue>): string => {
  const [first] = errors
  if (first === undefined) return "The request body or parameters are invalid."
  return first.path.length === 0 ? `${first.message}.` : `${first.path.join(".")}: ${first.message}.`
}

/**
 * The outermost middleware of the API: answers what does not decode, and adds the headers that an endpoint's
 * annotations ask for, `no-store` where a secret is shown and `Location` where something was made.
 */
import { InternalProblem, LocatedAt, locationOf, problemOfSchemaError, SchemaErrors, ShowsSecret } from "@narthex/api"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"

const jsonBody = (response: HttpServerResponse.HttpServerResponse): unknown =>
  response.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(response.body.body)) : undefined

/**
 * The framework types what handlers fail with as unknown to middleware; what did not decode is told by its brand, and
 * everything else passes.
 */
const decodeFailure = <E>(error: E) => {
  const undecoded: unknown = error
  if (!HttpApiError.HttpApiSchemaError.is(undecoded)) return Effect.fail(error)
  const problem = problemOfSchemaError(undecoded)
  return Effect.flatMap(
    problem === undefined ? Effect.logError("An answer does not have its shape.", undecoded) : Effect.void,
    (): Effect.Effect<never, E | InternalProblem | NonNullable<typeof problem>> =>
      Effect.fail(problem ?? new InternalProblem({}))
  )
}

export const AnswersLive = Layer.succeed(
  SchemaErrors,
  SchemaErrors.of(
    Effect.fnUntraced(function* (handler, { endpoint }) {
      const response = yield* Effect.catch(handler, decodeFailure)
      const location = Context.get(endpoint.annotations, LocatedAt)
      const { params } = yield* HttpRouter.RouteContext
      const located =
        location === undefined || response.status !== 201 || response.headers["location"] !== undefined
          ? response
          : HttpServerResponse.setHeader(response, "location", locationOf(location, params, jsonBody(response)))
      return Context.get(endpoint.annotations, ShowsSecret)
        ? HttpServerResponse.setHeader(located, "cache-control", "no-store")
        : located
    })
  )
)

/**
 * The outermost middleware of the API: counts anonymous calls and failed authentications against their limits, answers
 * what does not decode, and adds the headers that an endpoint's annotations ask for, `no-store` where a secret is
 * shown and `Location` where something was made.
 *
 * Pitfall: asking the limit on failures before the credential. It refuses failures alone; a credential that verifies
 * always passes, so no client locks out others behind the same address (docs/design/identity.md I45).
 */
import {
  InternalProblem,
  InvalidTokenProblem,
  LocatedAt,
  locationOf,
  policyOf,
  problemOfSchemaError,
  SchemaErrors,
  ShowsSecret
} from "@narthex/api"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type HttpApiEndpoint, HttpApiError } from "effect/http-api"
import { Limits } from "../limits/Limits.ts"
import type { LimitName } from "../limits/RateLimits.ts"
import { requestOrigin } from "./origin.ts"

/** What anybody may ask for without a credential, counted per client address. */
const anonymousLimits: Readonly<Record<string, LimitName>> = {
  "/v1/auth/exchange": "exchange",
  "/v1/cli/exchange": "cli_exchange",
  "/v1/credentials/report": "reports"
}

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

/** A credential that did not verify. Our own tokens that are merely over are told so, and count for nothing. */
const failedAuthentication = (endpoint: HttpApiEndpoint.Top, error: unknown) =>
  error instanceof InvalidTokenProblem && policyOf(endpoint)?._tag !== "Anonymous"

export const AnswersLive = Layer.effect(
  SchemaErrors,
  Effect.gen(function* () {
    const limits = yield* Limits
    const takePerAddress = (limit: LimitName) =>
      Effect.flatMap(requestOrigin, ({ address }) => limits.take(limit, address ?? "unknown"))

    return SchemaErrors.of(
      Effect.fnUntraced(function* (handler, { endpoint }) {
        const limit = anonymousLimits[endpoint.path]
        const refused = limit === undefined ? undefined : yield* takePerAddress(limit)
        if (refused !== undefined) return refused
        const response = yield* Effect.catch(
          Effect.catchIf(
            handler,
            (error) => failedAuthentication(endpoint, error),
            Effect.fnUntraced(function* (error) {
              return (yield* takePerAddress("failures")) ?? (yield* Effect.fail(error))
            })
          ),
          decodeFailure
        )
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
  })
)

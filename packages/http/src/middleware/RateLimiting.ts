/**
 * Counts calls against the limits that are kept by client address: those that an endpoint declares, and failed
 * authentications of every endpoint.
 *
 * Limits by session are counted where the session token is read (`Authentication`), limits by user where the caller has
 * been authorized (`PolicyCheck`).
 *
 * Pitfall: checking the limit on failures before the credential. A client could lock out every other client behind the
 * same address; a credential that verifies always passes (docs/design/identity.md I45).
 */
import { InvalidTokenProblem, policyOf, RateLimitedBy, RateLimiting, rateLimits } from "@narthex/api"
import { requesterAt } from "@narthex/core"
import { Context, Effect, Layer, Predicate } from "effect"
import { HttpServerRespondable } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { Limits } from "../limits/Limits.ts"
import type { LimitName } from "../limits/RateLimits.ts"
import { requestOrigin } from "../ServerIdentity.ts"

const needsCredential = (endpoint: HttpApiEndpoint.Top) => policyOf(endpoint)?._tag !== "Anonymous"

export const layerRateLimiting = Layer.effect(
  RateLimiting,
  Effect.gen(function* () {
    const limits = yield* Limits
    const takePerAddress = (limit: LimitName) =>
      Effect.flatMap(requestOrigin, ({ address }) => limits.take(limit, requesterAt(address)))
    const fail = Effect.flatMap(requestOrigin, ({ address }) => limits.fail(requesterAt(address)))

    return RateLimiting.of((handler, { endpoint }) => {
      const limit = Context.get(endpoint.annotations, RateLimitedBy)
      // The end of a session does not count as a failure: clients whose session has ended are honest ones.
      const counted = Effect.catchIf(
        handler,
        (error) => needsCredential(endpoint) && error instanceof InvalidTokenProblem,
        (error) =>
          Effect.matchEffect(fail, {
            onFailure: (problem) => Effect.orDie(HttpServerRespondable.toResponse(problem)),
            onSuccess: () => Effect.fail(error)
          })
      )
      // Most endpoints have no limit per address, and their requests pay nothing for it.
      if (limit === undefined || rateLimits[limit] !== "address") return counted
      return Effect.filterOrElse(takePerAddress(limit), Predicate.isNotUndefined, () => counted)
    })
  })
)

/**
 * Counts calls against the limits that are kept by client address: those that an endpoint declares, and failed
 * authentications of every endpoint.
 *
 * What is refused is answered in turns (docs/design/api.md A35), so a client that sends the next attempt with each refusal has few.
 *
 * Limits by session are counted where the session token is read (`Authentication`), limits by user where the caller has
 * been authorized (`PolicyCheck`).
 *
 * Pitfall: checking the limit on failures before the credential. A client could lock out every other client behind the
 * same address; a credential that verifies always passes (docs/design/identity.md I45).
 */
import {
  InvalidTokenProblem,
  policyOf,
  RateLimitedBy,
  RateLimiting,
  rateLimits,
  SignInRequiredProblem,
  TokenExpiredProblem
} from "@narthex/api"
import { machineOf } from "@narthex/core"
import { Context, Effect, Layer } from "effect"
import { HttpServerRespondable } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { Limits } from "../limits/Limits.ts"
import type { LimitName } from "../limits/RateLimits.ts"
import { requestOrigin } from "../ServerIdentity.ts"

const needsCredential = (endpoint: HttpApiEndpoint.Top) => policyOf(endpoint)?._tag !== "Anonymous"

/** The credential was looked up, and does not authenticate. */
const isRefused = (error: unknown) =>
  error instanceof InvalidTokenProblem || error instanceof TokenExpiredProblem || error instanceof SignInRequiredProblem

export const layerRateLimiting = Layer.effect(
  RateLimiting,
  Effect.gen(function* () {
    const limits = yield* Limits
    const takePerAddress = (limit: LimitName) =>
      Effect.flatMap(requestOrigin, ({ address }) => limits.take(limit, machineOf(address ?? "unknown")))
    /** Waits for the turn of a refusal, or returns the 429 of too many that wait. */
    const refuse = Effect.flatMap(requestOrigin, ({ address }) =>
      Effect.matchEffect(limits.refuse(address), {
        onFailure: (problem) => Effect.orDie(HttpServerRespondable.toResponse(problem)),
        onSuccess: () => Effect.undefined
      })
    )

    return RateLimiting.of((handler, { endpoint }) => {
      const limit = Context.get(endpoint.annotations, RateLimitedBy)
      const counted = Effect.catchIf(
        handler,
        (error) => needsCredential(endpoint) && isRefused(error),
        Effect.fnUntraced(function* (error) {
          // The end of a session does not count as a failure: clients whose session has ended are honest ones.
          const counts = error instanceof InvalidTokenProblem
          return (
            (yield* refuse) ?? (counts ? yield* takePerAddress("failures") : undefined) ?? (yield* Effect.fail(error))
          )
        })
      )
      // Most endpoints have no limit per address, and their requests pay nothing for it.
      if (limit === undefined || rateLimits[limit] !== "address") return counted
      return Effect.flatMap(takePerAddress(limit), (refused) =>
        refused === undefined ? counted : Effect.as(refuse, refused)
      )
    })
  })
)

/**
 * Steps 2 and 3 of the order of answers: a credential in, who is calling out.
 *
 * The header is read here and not by the framework, which knows one letter case of `Bearer` and cannot tell a missing
 * credential from an empty one.
 */
import { Authentication, OwnToken, PresentedToken, ProxyAuthentication } from "@narthex/api"
import { Authentication as Authenticator, Principal } from "@narthex/core"
import { InvalidTokenProblem, SessionRequiredProblem, UnauthenticatedProblem } from "@narthex/api"
import { Effect, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { isToken } from "../ClientAddress.ts"
import { ServerIdentity } from "../ServerIdentity.ts"
import { problems } from "../toProblem.ts"
import { bearer, requestOrigin } from "./origin.ts"

const credential = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const token = bearer(headers["authorization"])
  return token === undefined ? yield* new UnauthenticatedProblem({}) : Redacted.make(token, { label: "credential" })
})

export const AuthenticationLive = Layer.effect(
  Authentication,
  Effect.gen(function* () {
    const { authenticate } = yield* Authenticator
    return Authentication.of({
      bearer: Effect.fnUntraced(function* (handler) {
        const { address } = yield* requestOrigin
        const principal = yield* problems(authenticate(yield* credential, address))
        return yield* Effect.provideService(handler, Principal, principal)
      })
    })
  })
)

/** Refresh and logout verify the token themselves, in their transaction; only a key is told from it here. */
export const OwnTokenLive = Layer.effect(
  OwnToken,
  Effect.gen(function* () {
    const { authenticate } = yield* Authenticator
    return OwnToken.of({
      bearer: Effect.fnUntraced(function* (handler) {
        const token = yield* credential
        if (Redacted.value(token).startsWith("nsk_")) {
          const { address } = yield* requestOrigin
          yield* Effect.catchTag(
            authenticate(token, address),
            ["TokenExpired", "SignInRequired"],
            () => Effect.void
          ).pipe(problems)
          return yield* new SessionRequiredProblem({ required: "session", held: "api_key" })
        }
        return yield* Effect.provideService(handler, PresentedToken, token)
      })
    })
  })
)

export const ProxyAuthenticationLive = Layer.succeed(
  ProxyAuthentication,
  ProxyAuthentication.of({
    proxy_token: Effect.fnUntraced(function* (handler) {
      const { proxy_token } = yield* ServerIdentity
      const token = yield* credential
      return isToken(Redacted.value(token), proxy_token) ? yield* handler : yield* new InvalidTokenProblem({})
    })
  })
)

/**
 * The authentication of calls, as middleware declarations: the server implements them, the typed client signs with them.
 *
 * There are three, one per kind of credential: a session token or an API key; a session token that may have expired; a
 * proxy token. All run before the request is decoded, so a missing credential is answered before an invalid body.
 */
import type { Principal } from "@narthex/core"
import { Context, type Redacted } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import {
  InvalidTokenProblem,
  MalformedRequestProblem,
  NotAMemberProblem,
  RateLimitedProblem,
  SessionRequiredProblem,
  SignInRequiredProblem,
  TokenExpiredProblem,
  UnauthenticatedProblem,
  UnavailableProblem
} from "../problems/Problems.ts"

/** Turns a bearer credential into the caller: steps 2 and 3 of docs/design/authorization.md Z6. */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: Principal }>()(
  "@narthex/api/Authentication",
  {
    requiredForClient: true,
    security: { bearer: HttpApiSecurity.bearer },
    error: [
      MalformedRequestProblem,
      UnauthenticatedProblem,
      InvalidTokenProblem,
      TokenExpiredProblem,
      SignInRequiredProblem,
      RateLimitedProblem,
      UnavailableProblem
    ]
  }
) {}

/** The token that `OwnToken` passed on. It is not verified yet: `Sessions` does that in its transaction. */
export class PresentedToken extends Context.Service<PresentedToken, Redacted.Redacted>()(
  "@narthex/api/PresentedToken"
) {}

/** For refresh and logout: a session token, valid or expired. An API key is refused with `session_required`. */
export class OwnToken extends HttpApiMiddleware.Service<OwnToken, { provides: PresentedToken }>()(
  "@narthex/api/OwnToken",
  {
    requiredForClient: true,
    security: { bearer: HttpApiSecurity.bearer },
    error: [
      MalformedRequestProblem,
      UnauthenticatedProblem,
      InvalidTokenProblem,
      SignInRequiredProblem,
      NotAMemberProblem,
      SessionRequiredProblem,
      RateLimitedProblem,
      UnavailableProblem
    ]
  }
) {}

/** For proxies: a proxy token. Every other credential is 401. */
export class ProxyAuthentication extends HttpApiMiddleware.Service<ProxyAuthentication>()(
  "@narthex/api/ProxyAuthentication",
  {
    requiredForClient: true,
    security: { proxy_token: HttpApiSecurity.bearer },
    error: [MalformedRequestProblem, UnauthenticatedProblem, InvalidTokenProblem, UnavailableProblem]
  }
) {}

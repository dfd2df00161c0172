/**
 * What stands before a handler, as data; the server implements it, the typed client signs with it.
 *
 * Three credentials, three middlewares: any credential of a person or key, our own token valid or expired, a proxy's
 * token. All run before anything of the request is decoded, so a missing credential is answered before a bad body.
 */
import { Context, type Redacted } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import type { Principal } from "@narthex/core"
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

/** Steps 2 and 3 of the order of answers: a bearer credential in, who is calling out. */
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

/** The token that `OwnToken` let through. Whether it is genuine is still to be checked, in the handler's transaction. */
export class PresentedToken extends Context.Service<PresentedToken, Redacted.Redacted>()(
  "@narthex/api/PresentedToken"
) {}

/** Refresh and logout: our own token, valid or expired. A key is `session_required`. */
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

/** A proxy's token, never a user's credential: everything else is 401. */
export class ProxyAuthentication extends HttpApiMiddleware.Service<ProxyAuthentication>()(
  "@narthex/api/ProxyAuthentication",
  {
    requiredForClient: true,
    security: { proxy_token: HttpApiSecurity.bearer },
    error: [MalformedRequestProblem, UnauthenticatedProblem, InvalidTokenProblem, UnavailableProblem]
  }
) {}

/**
 * Turns the credential of a request into its caller: steps 2 and 3 of docs/design/authorization.md Z6.
 *
 * The header is read here and not by the framework, which accepts `Bearer` in one letter case only and does not
 * distinguish a missing credential from an empty one.
 */
import {
  Authentication,
  InvalidTokenProblem,
  NotAMemberProblem,
  OwnToken,
  PresentedToken,
  type ProblemCode,
  ProxyAuthentication,
  RateLimitedBy,
  rateLimits,
  SessionRequiredProblem,
  UnauthenticatedProblem
} from "@narthex/api"
import {
  Authentication as Authenticator,
  Principal,
  Requester,
  requesterOf,
  Sessions,
  TokenSigner
} from "@narthex/core"
import { Context, Effect, Layer, Metric, Option, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { isToken } from "../ClientAddress.ts"
import { Limits } from "../limits/Limits.ts"
import { requestOrigin, ServerIdentity } from "../ServerIdentity.ts"
import { hostCredential } from "../sessions/hostSession.ts"
import { problems } from "../toProblem.ts"
import { sharing } from "./sharing.ts"

/** Whether a credential of the scheme `Bearer` was sent, well-formed or not. */
const presents = (header: string) => /^bearer[ \t]+\S/i.test(header)

const credential = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  ({
    headers: { authorization: header = "" }
  }): Effect.Effect<Redacted.Redacted, UnauthenticatedProblem | InvalidTokenProblem> => {
    if (!presents(header)) return Effect.fail(new UnauthenticatedProblem({}))
    // A credential is one word after spaces (RFC 6750 §2.1). Anything else was sent, and is not valid.
    const token = /^bearer +(\S+) *$/i.exec(header)?.[1]
    return token === undefined
      ? Effect.fail(new InvalidTokenProblem({}))
      : Effect.succeed(Redacted.make(token, { label: "credential" }))
  }
)

/** Without the header, the credential is that of the host's own session, if the request has one. */
const presented = (sessions: Sessions["Service"]) => {
  const ofHost = hostCredential(sessions)
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    headers["authorization"] === undefined ? ofHost : credential
  )
}

/** The kinds of credentials, as labels of a metric. */
type Kind = "api_key" | "session"

/** Counts what became of a credential. Kinds and codes are few, so a metric of each is kept. */
const countingOutcomes = Effect.map(Effect.context<never>(), (context) => {
  const made = new Map<string, Metric.Counter<number>>()
  return (credential: Kind, outcome: "accepted" | ProblemCode): void => {
    const key = `${credential} ${outcome}`
    const known = made.get(key)
    const counter =
      known ??
      Metric.counter("narthex_authentications_total", {
        description: "Requests with a credential, by its kind and outcome.",
        incremental: true,
        attributes: { credential, outcome }
      })
    if (known === undefined) made.set(key, counter)
    counter.updateUnsafe(1, context)
  }
})

const kindOf = (text: string): Kind => (text.startsWith("nsk_") ? "api_key" : "session")

export const layerAuthentication = Layer.effect(
  Authentication,
  Effect.gen(function* () {
    const { authenticate } = yield* Authenticator
    const { begin } = yield* Limits
    const sent = presented(yield* Sessions)
    // A page of the console makes many calls with one session at once.
    const shared = sharing<
      Effect.Success<ReturnType<typeof authenticate>>,
      Effect.Error<ReturnType<typeof authenticate>>
    >()
    const callerOf = (token: Redacted.Redacted) => {
      const text = Redacted.value(token)
      if (!text.startsWith("nsk_")) return shared(text, authenticate(token, null))
      // The last use of a key has an address.
      return Effect.flatMap(requestOrigin, ({ address }) => shared(`${text} ${address}`, authenticate(token, address)))
    }
    const count = yield* countingOutcomes
    const refused =
      (kind: Kind) =>
      ({ code }: { readonly code: ProblemCode }) =>
        Effect.sync(() => count(kind, code))
    return Authentication.of({
      bearer: (handler) =>
        Effect.flatMap(sent, (token) => {
          const kind = kindOf(Redacted.value(token))
          const known = Effect.tapError(problems(callerOf(token)), refused(kind))
          return Effect.flatMap(Effect.tap(known, begin), (caller) => {
            count(kind, "accepted")
            return Effect.updateContext(handler, (context: Context.Context<never>) =>
              Context.add(Context.add(context, Principal, caller), Requester, requesterOf(caller))
            )
          })
        })
    })
  })
)

/**
 * Refresh and logout verify the token in their own transaction; only API keys are refused here. A limit per session
 * counts genuine tokens only, so a forged token does not use up a session's quota.
 */
export const layerOwnToken = Layer.effect(
  OwnToken,
  Effect.gen(function* () {
    const { authenticate } = yield* Authenticator
    const limits = yield* Limits
    const sent = presented(yield* Sessions)
    const signer = yield* TokenSigner

    const refuseKey = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
      const { address } = yield* requestOrigin
      // A key is refused as invalid when it has expired; only sessions fail with these two errors.
      const caller = Effect.catchTag(authenticate(secret, address), ["TokenExpired", "SignInRequired"], Effect.die)
      const found = yield* problems(caller)
      yield* limits.begin(found)
      return found.organization.role === null
        ? yield* new NotAMemberProblem({ required: "membership", held: null })
        : yield* new SessionRequiredProblem({ required: "session", held: "api_key" })
    })

    return OwnToken.of({
      bearer: Effect.fnUntraced(function* (handler, { endpoint }) {
        const token = yield* sent
        if (Redacted.value(token).startsWith("nsk_")) return yield* refuseKey(token)
        const limit = Context.get(endpoint.annotations, RateLimitedBy)
        if (limit !== undefined && rateLimits[limit] === "session") {
          const claims = yield* Effect.option(signer.verify(token))
          if (Option.isSome(claims)) {
            const { sid } = claims.value
            yield* limits.beginRefresh(sid)
            const refused = yield* limits.take(limit, sid)
            if (refused !== undefined) return refused
          }
        }
        return yield* Effect.provideService(handler, PresentedToken, token)
      })
    })
  })
)

export const layerProxyAuthentication = Layer.succeed(
  ProxyAuthentication,
  ProxyAuthentication.of({
    proxy_token: Effect.fnUntraced(function* (handler) {
      const { proxy_token } = yield* ServerIdentity
      const token = yield* credential
      if (!isToken(Redacted.value(token), proxy_token)) return yield* new InvalidTokenProblem({})
      return yield* Effect.provideService(handler, Requester, null)
    })
  })
)

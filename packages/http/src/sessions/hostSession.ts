/**
 * Requests without a credential that come from a session of the host's own (docs/design/library.md N42 to N44): the
 * host's function says whose session it is, and the request acts with the session that belongs to it.
 *
 * Pitfall: taking the host's session for a change that another site sends. It is usually a cookie, which browsers add
 * to such requests.
 */
import { UnauthenticatedProblem } from "@narthex/api"
import { InvalidCredential, requestedId, type Sessions, UserId } from "@narthex/core"
import { Context, Effect, Predicate } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { requestOrigin } from "../ServerIdentity.ts"
import { problems } from "../toProblem.ts"

/** A session of the host: whose, and the host's own id of it. */
export interface HostSession {
  readonly person: string
  readonly id: string
}

/** The host's function for the running request; `undefined`: the host has none. */
export const AskedHost = Context.Reference<(() => Promise<HostSession | null>) | undefined>(
  "@narthex/http/sessions/AskedHost",
  { defaultValue: () => undefined }
)

const reads = ["GET", "HEAD"]

/**
 * Whether no other site can have sent the request. Browsers say it in `Sec-Fetch-Site`, older ones at least in `Origin`;
 * a change without either is refused.
 */
export const isOwnSite = ({ headers, method, url }: Request): boolean => {
  if (reads.includes(method)) return true
  const site = headers.get("sec-fetch-site")
  if (site !== null) return site === "same-origin" || site === "none"
  const origin = headers.get("origin") ?? ""
  return URL.canParse(origin) && new URL(origin).host === new URL(url).host
}

/** Checks the result of the host's function, because a program without types may return anything. */
const checked = (given: unknown): HostSession | null => {
  if (given === null || given === undefined) return null
  if (Predicate.hasProperty(given, "person") && Predicate.hasProperty(given, "id")) {
    const { id, person } = given
    if (typeof person === "string" && typeof id === "string" && id !== "") return { person, id }
  }
  throw new TypeError("hostSession: expected { person, id }, both texts, or null.")
}

const refused = (reason: string) =>
  Effect.andThen(
    Effect.logWarning(`A session of the host was refused: ${reason}`),
    Effect.fail(new InvalidCredential({}))
  )

/**
 * A shared cache may store an answer to a request without `Authorization` (RFC 9111 §3), and the host's cookie does not
 * tell it apart. A stream says more itself.
 */
const neverStored = HttpEffect.appendPreResponseHandler((_, response) =>
  Effect.succeed(
    response.headers["cache-control"] === undefined
      ? HttpServerResponse.setHeader(response, "cache-control", "no-store")
      : response
  )
)

/** The token of the session that belongs to the host's session of this request. */
export const hostCredential = (sessions: Sessions["Service"]) =>
  Effect.gen(function* () {
    const ask = yield* AskedHost
    // A function that throws is an answer of 500, and the operator reads why.
    const own = ask === undefined ? null : yield* Effect.promise(async () => checked(await ask()))
    if (own === null) return yield* new UnauthenticatedProblem({})
    yield* neverStored
    const started = sessions.start(requestedId(UserId, own.person), yield* requestOrigin, own.id).pipe(
      Effect.catchTags({
        NotFound: () => refused("there is no such person."),
        AccountDisabled: () => refused("the account is disabled."),
        EmailNotAllowed: () => refused("the sign-in allowlist does not hold the address.")
      })
    )
    return (yield* problems(started)).access_token
  })

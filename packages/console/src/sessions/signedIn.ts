/**
 * The guard of every page and call that needs a session.
 *
 * 1. Without a valid cookie, or 12 hours after sign-in, the browser is sent to sign-in and returns afterwards.
 * 2. A token that is about to expire is refreshed. The answer sets the new cookie, whatever its status.
 * 3. The handler runs with the token as the credential of its calls.
 * 4. Refusals that concern the session are answered here: pending, ended or stale. Stale means that a new token helps:
 *    the old one has expired by the API's clock, or its organization was lost. A stale GET is redirected to itself
 *    once.
 */
import { ClientCredential, type NarthexClient } from "@narthex/api"
import { Clock, Effect, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type ApiFailure, type ApiRefused, ApiUnreachable, refusedWith } from "../api/ApiRefusal.ts"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { UnreadableBody } from "../web/Form.ts"
import { returnPath } from "../web/returnTo.ts"
import { ConsoleSession, hasEnded, toCookie } from "./ConsoleSession.ts"
import { presentedCookie, withCookie, withoutCookie } from "./cookies.ts"
import { SealedCookies } from "./SealedCookies.ts"
import { Sessions } from "./Sessions.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Answers to refused requests: pages for people, problems for programs. */
export interface Refusals {
  readonly signInRequired: (request: HttpServerRequest.HttpServerRequest) => Response
  readonly pending: (refusal: ApiRefused) => Response
  readonly emailNotAllowed: (refusal: ApiRefused) => Response
  /** Any other failure. `again` is the path to open for another try; without it, there is none for this request. */
  readonly failed: (failure: ApiFailure | UnreadableBody, again?: string) => Response
  /** Whether a stale GET may be redirected to itself. */
  readonly retries: boolean
}

const decode = Schema.decodeUnknownOption(ConsoleSession)

/** The session in the request's cookie, unless it is invalid or has ended. */
export const currentSession = Effect.gen(function* () {
  const cookie = yield* presentedCookie("session")
  if (cookie === undefined) return Option.none<ConsoleSession>()
  const session = Option.flatMap(yield* (yield* SealedCookies).open("session", cookie), decode)
  const now = yield* Clock.currentTimeMillis
  return Option.filter(session, (it) => !hasEnded(it, now))
})

export const withSession = Effect.fnUntraced(function* (response: Response, session: ConsoleSession) {
  const settings = yield* ConsoleSettings
  const value = yield* (yield* SealedCookies).seal("session", toCookie(session), session.refresh_until)
  const seconds = (session.refresh_until - (yield* Clock.currentTimeMillis)) / 1000
  return withCookie(response, { purpose: "session", value, seconds, settings })
})

export const withoutSession = (response: Response) =>
  Effect.map(ConsoleSettings, (settings) => withoutCookie(response, "session", settings))

const isOver = refusedWith("unauthenticated", "invalid_token", "sign_in_required")
const isStale = refusedWith("token_expired", "not_a_member")

/** Milliseconds. A younger token was just fetched; another would not help. */
const minRetryAge = 5_000

type Needs = ConsoleSettings | NarthexClient | SealedCookies | Sessions | HttpServerRequest.HttpServerRequest

export const signedIn =
  (refusals: Refusals) =>
  <R>(
    handler: (session: ConsoleSession) => Effect.Effect<Response, ApiFailure | UnreadableBody, R>
  ): Effect.Effect<Response, never, R | Needs> =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const toSignIn = Effect.suspend(() => withoutSession(refusals.signInRequired(request)))
      const sessions = yield* Sessions

      const answer = (failure: ApiFailure | UnreadableBody): Effect.Effect<Response, never, ConsoleSettings> => {
        if (failure instanceof ApiUnreachable)
          return Effect.as(
            Effect.logWarning("The API cannot be reached", failure.reason),
            refusals.failed(failure, request.method === "GET" ? returnPath(request.url) : undefined)
          )
        if (isOver(failure)) return toSignIn
        if (refusedWith("email_not_allowed")(failure)) return withoutSession(refusals.emailNotAllowed(failure))
        if (refusedWith("alpha_pending")(failure)) return Effect.succeed(refusals.pending(failure))
        return Effect.succeed(refusals.failed(failure))
      }

      const act = (session: ConsoleSession) =>
        handler(session).pipe(
          Effect.provideService(ClientCredential, session.access_token),
          Effect.catch((failure) =>
            isStale(failure) ? renew(session, failure) : Effect.map(answer(failure), (response) => ({ response }))
          ),
          Effect.map((result) => ("response" in result ? result : { response: result }))
        )

      const renew = (session: ConsoleSession, failure: ApiRefused) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const may = refusals.retries && (request.method === "GET" || request.method === "HEAD")
          if (!may || now - session.issued_at < minRetryAge) return { response: yield* answer(failure) }
          const renewed = yield* sessions.renewed(session)
          const again = HttpServerResponse.empty({ status: 303, headers: { location: request.url } })
          return { response: again, renewed }
        }).pipe(Effect.catch((refusal) => Effect.map(answer(refusal), (response) => ({ response }))))

      const found = yield* currentSession
      if (Option.isNone(found)) return yield* toSignIn
      const fresh = yield* Effect.result(sessions.fresh(found.value))
      if (fresh._tag === "Failure") return yield* answer(fresh.failure)
      const done: { response: Response; renewed?: ConsoleSession } = yield* act(fresh.success)
      const session = done.renewed ?? fresh.success
      const changed = session.issued_at !== found.value.issued_at
      const setsOwnCookie = hasOwnCookie(done.response)
      return changed && !setsOwnCookie ? yield* withSession(done.response, session) : done.response
    })

/** Whether the handler signed out or switched: its cookie is newer than the refreshed one. */
const hasOwnCookie = (response: Response) => Object.keys(response.cookies.cookies).length > 0

/**
 * A session as the credential of a client: its token is replaced when it expires (docs/design/client.md L16–L20).
 *
 * 1. A call that is answered `token_expired` refreshes the session and is sent again. The server's clock decides, not
 *    the client's.
 * 2. Calls that find the same token expired share one refresh.
 * 3. A refresh runs to its end, even when the call that began it is aborted. A lost answer is repeated with the same
 *    token, which the server accepts (docs/design/identity.md I24).
 * 4. A refused refresh is the answer to the call.
 *
 * Pitfall: a refresh during a switch of organization. Its answer could arrive after the switch and bring back the
 * organization that the person has left, so both hold one lock.
 */
import { Context, Effect, Fiber, type Redacted, Schema, Semaphore } from "effect"
import { type HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ProblemBody } from "../problems/OtherProblem.ts"
import { SessionAnswer } from "../schemas/SessionAnswer.ts"
import { ClientHeaders } from "./ClientCredential.ts"
import { LastAttempt } from "./LastAttempt.ts"
import { type RetrySettings, resent } from "./retries.ts"

/** The session of a client, for example the answer of `exchange`. */
export interface ClientSession {
  readonly access_token: Redacted.Redacted
  /** Stores the session after a refresh and a switch of organization. Calls wait for it. */
  readonly onRefresh?: (session: SessionAnswer) => Effect.Effect<void>
}

type Renewal =
  | { readonly _tag: "Renewed"; readonly token: Redacted.Redacted }
  | { readonly _tag: "Refused"; readonly response: HttpClientResponse.HttpClientResponse }

export interface SessionKeeper {
  /** The token of the next request. */
  readonly token: () => Redacted.Redacted
  /** A newer token than the one that has expired. */
  readonly renewed: (used: Redacted.Redacted) => Effect.Effect<Renewal, HttpClientError.HttpClientError>
  /** Runs a call whose answer is a new session, and continues with it. */
  readonly adopting: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The running call holds the session's lock already. */
const HoldsLock = Context.Reference<boolean>("@narthex/api/client/HoldsLock", { defaultValue: () => false })

const decodeSession = Schema.decodeUnknownEffect(SessionAnswer)
const isSession = Schema.is(SessionAnswer)

const unreadable = (response: HttpClientResponse.HttpClientResponse, cause: unknown) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.DecodeError({ request: response.request, response, cause })
  })

const failOnStatus = (response: HttpClientResponse.HttpClientResponse) =>
  response.status === 200
    ? Effect.succeed(response)
    : Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.StatusCodeError({ request: response.request, response })
        })
      )

/** `http` adds the base URL and headers; `retries`: `undefined` sends a refresh once. */
export const makeSessionKeeper = <E extends HttpClientError.HttpClientError>(
  { access_token, onRefresh }: ClientSession,
  http: HttpClient.HttpClient.With<E>,
  retries: Required<RetrySettings> | undefined
): SessionKeeper => {
  const lock = Semaphore.makeUnsafe(1)
  let token = access_token

  const adopt = (session: SessionAnswer) =>
    Effect.suspend(() => {
      token = session.access_token
      return onRefresh === undefined ? Effect.void : onRefresh(session)
    })

  const attempt = (used: Redacted.Redacted) =>
    Effect.gen(function* () {
      const request = HttpClientRequest.bearerToken(HttpClientRequest.post("/v1/auth/refresh"), used)
      const response = yield* Effect.flatMap(http.execute(request), failOnStatus)
      const session = yield* Effect.mapError(Effect.flatMap(response.json, decodeSession), (cause) =>
        unreadable(response, cause)
      )
      return session
    })

  const refresh = Effect.fnUntraced(function* (used: Redacted.Redacted) {
    if (token !== used) return { _tag: "Renewed", token } as const
    const session = yield* retries === undefined ? attempt(used) : resent(retries, true, attempt(used))
    yield* adopt(session)
    return { _tag: "Renewed", token } as const
  })

  const renewed: SessionKeeper["renewed"] = (used) =>
    Effect.gen(function* () {
      const held = yield* HoldsLock
      const locked = held ? refresh(used) : lock.withPermit(refresh(used))
      const alone = locked.pipe(Effect.provideService(ClientHeaders, {}), Effect.provideService(LastAttempt, undefined))
      return yield* Effect.flatMap(Effect.forkDetach(alone), Fiber.join)
    }).pipe(
      Effect.catchIf(
        (error) => error.reason._tag === "StatusCodeError",
        (error): Effect.Effect<Renewal, HttpClientError.HttpClientError> =>
          error.response === undefined
            ? Effect.fail(error)
            : Effect.succeed({ _tag: "Refused", response: error.response })
      )
    )

  const adopting: SessionKeeper["adopting"] = (call) =>
    lock.withPermit(
      Effect.tap(Effect.provideService(call, HoldsLock, true), (answer) => {
        const session: unknown = Array.isArray(answer) ? answer[0] : answer
        return isSession(session) ? adopt(session) : Effect.void
      })
    )

  return { token: () => token, renewed, adopting }
}

const codeOf = Schema.decodeOption(ProblemBody)

/** Whether the answer says that the token has expired. The body stays readable. */
export const saysExpired = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<boolean, HttpClientError.HttpClientError> =>
  response.status !== 401
    ? Effect.succeed(false)
    : Effect.map(response.text, (text) => {
        const problem = codeOf(text)
        return problem._tag === "Some" && problem.value.code === "token_expired"
      })

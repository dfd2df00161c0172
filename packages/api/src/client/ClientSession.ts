/**
 * A session as the credential of a client: its token is replaced when it expires (docs/design/client.md L16–L20).
 *
 * 1. A call that is answered `token_expired` refreshes the session and is sent again. The server's clock decides, not
 *    the client's.
 * 2. Calls that find the token expired share one refresh (`SessionKeeper`), which excludes a switch of organization.
 * 3. A lost answer is repeated with the same token, which the server accepts (docs/design/identity.md I24).
 * 4. A refused refresh is the answer to the call.
 */
import { Effect, type Redacted, Schema } from "effect"
import { type HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ProblemBody } from "../problems/OtherProblem.ts"
import { SessionAnswer } from "../schemas/SessionAnswer.ts"
import { ClientHeaders } from "./ClientCredential.ts"
import { LastAttempt } from "./LastAttempt.ts"
import { type RetrySettings, resent } from "./retries.ts"
import { makeSessionKeeper } from "./SessionKeeper.ts"

/** The session of a client, for example the answer of `exchange`. */
export interface ClientSession {
  readonly access_token: Redacted.Redacted
  /** Stores the session after a refresh and a switch of organization. Calls wait for it. */
  readonly onRefresh?: (session: SessionAnswer) => Effect.Effect<void>
}

type Renewal =
  | { readonly _tag: "Renewed"; readonly token: Redacted.Redacted }
  | { readonly _tag: "Refused"; readonly response: HttpClientResponse.HttpClientResponse }

export interface ClientTokens {
  /** The token of the next request. */
  readonly token: () => Redacted.Redacted
  /** A newer token than the one that has expired. */
  readonly renewed: (used: Redacted.Redacted) => Effect.Effect<Renewal, HttpClientError.HttpClientError>
  /** Runs a call whose answer is a new session, and continues with it. */
  readonly adopting: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

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

/** The session that the client keeps: the token of its options, later the newest answer. */
type Kept = Pick<ClientSession, "access_token"> | SessionAnswer

/** `http` adds the base URL and headers; `retries`: `undefined` sends a refresh once. */
export const makeClientTokens = <E extends HttpClientError.HttpClientError>(
  { access_token, onRefresh }: ClientSession,
  http: HttpClient.HttpClient.With<E>,
  retries: Required<RetrySettings> | undefined
): ClientTokens => {
  const attempt = (used: Redacted.Redacted) =>
    Effect.gen(function* () {
      const request = HttpClientRequest.bearerToken(HttpClientRequest.post("/v1/auth/refresh"), used)
      const response = yield* Effect.flatMap(http.execute(request), failOnStatus)
      return yield* Effect.mapError(Effect.flatMap(response.json, decodeSession), (cause) =>
        unreadable(response, cause)
      )
    })
  const first: Kept = { access_token }
  const keeper = makeSessionKeeper({
    first,
    // A refresh serves all calls, so the headers and the attempt of the call that began it do not apply.
    refresh: ({ access_token: used }: Kept) =>
      (retries === undefined ? attempt(used) : resent(retries, true, attempt(used))).pipe(
        Effect.provideService(ClientHeaders, {}),
        Effect.provideService(LastAttempt, undefined)
      ),
    stored: (session) => (onRefresh !== undefined && isSession(session) ? onRefresh(session) : Effect.void)
  })

  return {
    token: () => (keeper.newest() ?? first).access_token,
    renewed: (used) =>
      keeper
        .renewed(first, (newest) => newest.access_token === used)
        .pipe(
          Effect.map(({ access_token: token }) => ({ _tag: "Renewed", token }) as const),
          Effect.catchIf(
            (error) => error.reason._tag === "StatusCodeError",
            (error): Effect.Effect<Renewal, HttpClientError.HttpClientError> =>
              error.response === undefined
                ? Effect.fail(error)
                : Effect.succeed({ _tag: "Refused", response: error.response })
          )
        ),
    adopting: (call) =>
      keeper.adopting(call, (answer) => {
        const session: unknown = Array.isArray(answer) ? answer[0] : answer
        return isSession(session) ? session : undefined
      })
  }
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

/**
 * Makes the calls of a client: the base URL, the credential, retries and the session are added to each.
 *
 * The credential is sent only with calls whose contract needs one, and only in the `Authorization` header.
 *
 * Pitfall: putting an id or a network into a path before its parser accepted it. URL libraries fold `.` and `..`.
 */
import { Duration, Effect, Redacted, type Stream } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { type HttpApi, HttpApiClient, type HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import { Api } from "../Api.ts"
import { failOnOtherProblem } from "../problems/OtherProblem.ts"
import { Authentication, OwnToken, ProxyAuthentication } from "../rules/Authentication.ts"
import type { ApiCalls } from "./ApiCalls.ts"
import { ClientCredential, ClientHeaders } from "./ClientCredential.ts"
import { type ClientSession, type ClientTokens, makeClientTokens, saysExpired } from "./ClientSession.ts"
import { eventStream } from "./eventStream.ts"
import { LastAttempt } from "./LastAttempt.ts"
import { defaultRetries, type RetrySettings, retrying } from "./retries.ts"
import type { StreamItem, StreamRefused, SubscriptionOptions } from "./Subscription.ts"
import { type AwaitedOperation, type WaitOptions, waitFor } from "./waitFor.ts"

export interface ClientSettings {
  /** Where the API is, without `/v1`. */
  readonly baseUrl: string
  /** Sent unless a call has its own `ClientCredential`. A session is refreshed when its token expires. */
  readonly credential?: Redacted.Redacted | ClientSession
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>
  /** `false`: each call is one request without a bound. */
  readonly retries?: RetrySettings | false
}

/** Adds the base URL and the headers to a request, and notes it. */
const prepared = Effect.fnUntraced(function* (settings: ClientSettings, request: HttpClientRequest.HttpClientRequest) {
  const own = yield* ClientHeaders
  const attempt = yield* LastAttempt
  const complete = request.pipe(
    HttpClientRequest.prependUrl(settings.baseUrl.replace(/\/+$/, "")),
    HttpClientRequest.setHeaders({ ...settings.headers, ...own })
  )
  if (attempt !== undefined) attempt.request = complete
  return complete
})

const noted = HttpClient.tap((response) =>
  Effect.map(LastAttempt, (attempt) => {
    if (attempt !== undefined) attempt.response = response
  })
)

/** The credential of a client: a secret that stays the same, or a session. */
interface Credential {
  readonly token: () => Redacted.Redacted | undefined
  readonly session: ClientTokens | undefined
}

const signed = Effect.fnUntraced(function* ({ token }: Credential, request: HttpClientRequest.HttpClientRequest) {
  const bearer = (yield* ClientCredential) ?? token()
  return bearer === undefined ? request : HttpClientRequest.bearerToken(request, bearer)
})

const signing =
  (credential: Credential): HttpApiMiddleware.HttpApiMiddlewareClient<never, never, never> =>
  ({ next, request }) =>
    Effect.gen(function* () {
      const used = credential.token()
      const response = yield* Effect.flatMap(signed(credential, request), next)
      const { session } = credential
      const own = yield* ClientCredential
      if (session === undefined || used === undefined || own !== undefined) return response
      if (!(yield* saysExpired(response))) return response
      const renewal = yield* session.renewed(used)
      return renewal._tag === "Refused"
        ? renewal.response
        : yield* next(HttpClientRequest.bearerToken(request, renewal.token))
    })

/** The calls whose answer is the client's new session. */
const answersSession = new Set(["auth.refresh", "auth.switchOrg"])

/** A call whose types are not known, because it is looked up by the names of the contract. */
export type AnyCall = (request?: { readonly query?: { readonly wait?: unknown } }) => Effect.Effect<unknown, unknown>

type MakeCall = (group: string, endpoint: HttpApiEndpoint.Top) => AnyCall

// Groups and endpoints are looked up by their names, so their types are not known one by one.
const contract = Api as unknown as HttpApi.Top

/** The calls of the contract. Each is made when it is read for the first time: its codecs take time. */
const callsOf = (make: MakeCall): ApiCalls => {
  const calls: Record<string, object> = {}
  for (const group of Object.values(contract.groups)) {
    const members = {}
    for (const endpoint of Object.values(group.endpoints)) {
      let made: AnyCall | undefined
      Object.defineProperty(members, endpoint.identifier, {
        enumerable: true,
        get: () => {
          made ??= make(group.identifier, endpoint)
          return made
        }
      })
    }
    calls[group.identifier] = members
  }
  // The names are those of the contract, from which the type is derived too.
  return calls as unknown as ApiCalls
}

/** How long a call asks the server to wait before it answers, in milliseconds. */
const patienceOf = (wait: unknown) => (Duration.isDuration(wait) ? Duration.toMillis(wait) : 0)

/** Adds retries and the session to a call. */
const completed = (
  group: string,
  endpoint: HttpApiEndpoint.Top,
  call: AnyCall,
  retries: Required<RetrySettings> | undefined,
  { session }: Credential
): AnyCall => {
  const adopts = session !== undefined && answersSession.has(`${group}.${endpoint.identifier}`)
  return (request) => {
    const patience = patienceOf(request?.query?.wait)
    const once = call(request)
    const resent = retries === undefined ? once : retrying(retries, endpoint, once, patience)
    if (!adopts) return resent
    return Effect.flatMap(ClientCredential, (own) => (own === undefined ? session.adopting(resent) : resent))
  }
}

export interface NarthexCalls {
  readonly api: ApiCalls
  /** Follows an event stream. The credential is read again for each connection. */
  readonly subscribe: (options: SubscriptionOptions) => Stream.Stream<StreamItem, StreamRefused>
  /** Waits until an operation has reached a final status. */
  readonly waitFor: (operation: AwaitedOperation, options?: WaitOptions) => ReturnType<typeof waitFor>
}

export const makeClient = (settings: ClientSettings): Effect.Effect<NarthexCalls, never, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const http = (yield* HttpClient.HttpClient).pipe(
      HttpClient.mapRequestEffect((request) => prepared(settings, request)),
      noted
    )
    const retries = settings.retries === false ? undefined : { ...defaultRetries, ...settings.retries }
    const credential = credentialOf(settings, http, retries)
    const sign = signing(credential)
    const services = yield* Effect.context<never>().pipe(
      Effect.provide([
        HttpApiMiddleware.layerClient(Authentication, sign),
        HttpApiMiddleware.layerClient(OwnToken, sign),
        HttpApiMiddleware.layerClient(ProxyAuthentication, sign)
      ])
    )
    const httpClient = HttpClient.transformResponse(http, Effect.flatMap(failOnOtherProblem))

    const make: MakeCall = (group, endpoint) => {
      const making = HttpApiClient.endpoint(contract, { httpClient, group, endpoint: endpoint.identifier as never })
      const call = Effect.runSyncWith(services)(making as Effect.Effect<unknown>) as AnyCall
      return completed(group, endpoint, call, retries, credential)
    }

    const api = callsOf(make)
    const streams = HttpClient.mapRequestEffect(http, (request) => signed(credential, request))
    const follow = (options: SubscriptionOptions) => eventStream(streams, options, credential.session)
    return {
      api,
      subscribe: follow,
      waitFor: (operation, options) => waitFor({ api, subscribe: follow }, operation, options)
    }
  })

const credentialOf = (
  { credential }: ClientSettings,
  http: HttpClient.HttpClient,
  retries: Required<RetrySettings> | undefined
): Credential => {
  if (credential === undefined || Redacted.isRedacted(credential))
    return { token: () => credential, session: undefined }
  const session = makeClientTokens(credential, http, retries)
  return { token: session.token, session }
}

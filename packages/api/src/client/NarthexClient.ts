/**
 * The typed client: every call of the contract, and subscriptions to event streams. The command line, the console and
 * the proxies use the server through it only.
 *
 * The credential is sent only with calls whose contract needs one, and only in the `Authorization` header.
 *
 * Pitfall: putting an id or a network into a path before its parser accepted it. URL libraries fold `.` and `..`.
 */
import { Context, Effect, Layer, type Redacted, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { Api } from "../Api.ts"
import { failOnOtherProblem, type OtherProblem } from "../problems/OtherProblem.ts"
import { Authentication, OwnToken, ProxyAuthentication } from "../rules/Authentication.ts"
import { ClientCredential, ClientHeaders } from "./ClientCredential.ts"
import { eventStream } from "./eventStream.ts"
import type { StreamItem, StreamRefused, SubscriptionOptions } from "./Subscription.ts"

export interface ClientSettings {
  /** Where the API is, without `/v1`. */
  readonly baseUrl: string
  /** Sent unless a call has its own `ClientCredential`. */
  readonly credential?: Redacted.Redacted
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>
}

export type ApiCalls = HttpApiClient.ForApi<typeof Api, OtherProblem>

const credentialOf = (settings: ClientSettings) => Effect.map(ClientCredential, (own) => own ?? settings.credential)

const signed = Effect.fnUntraced(function* (settings: ClientSettings, request: HttpClientRequest.HttpClientRequest) {
  const credential = yield* credentialOf(settings)
  return credential === undefined ? request : HttpClientRequest.bearerToken(request, credential)
})

/** Adds the base URL and the headers to a request. */
const prepared = Effect.fnUntraced(function* (settings: ClientSettings, request: HttpClientRequest.HttpClientRequest) {
  const own = yield* ClientHeaders
  return request.pipe(
    HttpClientRequest.prependUrl(settings.baseUrl.replace(/\/+$/, "")),
    HttpClientRequest.setHeaders({ ...settings.headers, ...own })
  )
})

export class NarthexClient extends Context.Service<
  NarthexClient,
  {
    readonly api: ApiCalls
    /** Follows an event stream. The credential is read again for each connection. */
    readonly subscribe: (options: SubscriptionOptions) => Stream.Stream<StreamItem, StreamRefused>
  }
>()("@narthex/api/NarthexClient") {
  static readonly layer = (settings: ClientSettings): Layer.Layer<NarthexClient, never, HttpClient.HttpClient> => {
    const sign: HttpApiMiddleware.HttpApiMiddlewareClient<never, never, never> = ({ next, request }) =>
      Effect.flatMap(signed(settings, request), next)
    return Layer.effect(
      NarthexClient,
      Effect.gen(function* () {
        const http = (yield* HttpClient.HttpClient).pipe(
          HttpClient.mapRequestEffect((request) => prepared(settings, request))
        )
        const api = yield* HttpApiClient.makeWith(Api, {
          httpClient: HttpClient.transformResponse(http, Effect.flatMap(failOnOtherProblem))
        })
        const streams = HttpClient.mapRequestEffect(http, (request) => signed(settings, request))
        return NarthexClient.of({ api, subscribe: (options) => eventStream(streams, options) })
      })
    ).pipe(
      Layer.provide([
        HttpApiMiddleware.layerClient(Authentication, sign),
        HttpApiMiddleware.layerClient(OwnToken, sign),
        HttpApiMiddleware.layerClient(ProxyAuthentication, sign)
      ])
    )
  }

  /** The client over `fetch`. */
  static readonly layerFetch = (settings: ClientSettings): Layer.Layer<NarthexClient> =>
    Layer.provide(NarthexClient.layer(settings), FetchHttpClient.layer)
}

/** Follows the events of a path over as many connections as needed. Fails with `StreamRefused` only. */
export const subscribe = (options: SubscriptionOptions): Stream.Stream<StreamItem, StreamRefused, NarthexClient> =>
  Stream.unwrap(NarthexClient.useSync((client) => client.subscribe(options)))

/**
 * `subscribe` as an async iterable over `fetch`, for programs without Effect. Leaving the loop closes the connection;
 * a refusal is thrown as `StreamRefused`.
 *
 * @example
 * for await (const item of subscribeAsync(settings, { path: "/v1/events" })) console.log(item._tag)
 */
export const subscribeAsync = (settings: ClientSettings, options: SubscriptionOptions): AsyncIterable<StreamItem> =>
  subscribe(options).pipe(Stream.provide(NarthexClient.layerFetch(settings)), Stream.toAsyncIterable)

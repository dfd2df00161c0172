/**
 * The typed client: every call of the contract, and subscriptions to event streams. The console and the proxies use the
 * server through it only; `createClient` is the same client with promises.
 */
import { Context, Layer, Stream } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { type ClientSettings, makeClient, type NarthexCalls } from "./makeClient.ts"
import type { StreamItem, StreamRefused, SubscriptionOptions } from "./Subscription.ts"

/**
 * The client with Effect: an effect for each call of the contract.
 *
 * @example
 * import { NarthexClient } from "@narthex/api"
 * import { Effect, Redacted } from "effect"
 * const client = NarthexClient.layerFetch({ baseUrl: "https://api.example.com", credential: Redacted.make("nsk_…") })
 * export const regions = Effect.provide(NarthexClient.use(({ api }) => api.regions.list({})), client)
 */
export class NarthexClient extends Context.Service<NarthexClient, NarthexCalls>()("@narthex/api/NarthexClient") {
  static readonly layer = (settings: ClientSettings): Layer.Layer<NarthexClient, never, HttpClient.HttpClient> =>
    Layer.effect(NarthexClient, makeClient(settings))

  /** The client over `fetch`. */
  static readonly layerFetch = (settings: ClientSettings): Layer.Layer<NarthexClient> =>
    Layer.provide(NarthexClient.layer(settings), FetchHttpClient.layer)
}

/** Follows the events of a path over as many connections as needed. Fails with `StreamRefused` only. */
export const subscribe = (options: SubscriptionOptions): Stream.Stream<StreamItem, StreamRefused, NarthexClient> =>
  Stream.unwrap(NarthexClient.useSync((client) => client.subscribe(options)))

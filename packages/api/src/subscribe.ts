/** Subscriptions for programs with Effect and without. */
import { Stream } from "effect"
import { type ClientSettings, NarthexClient } from "./NarthexClient.ts"
import type { StreamItem, StreamRefused, SubscriptionOptions } from "./Subscription.ts"

/** The events of a path, over as many connections as it takes. */
export const subscribe = (options: SubscriptionOptions): Stream.Stream<StreamItem, StreamRefused, NarthexClient> =>
  Stream.unwrap(NarthexClient.useSync((client) => client.subscribe(options)))

/** The same as an async iterable over `fetch`: leaving the loop ends it, a refusal is thrown. */
export const subscribeAsync = (settings: ClientSettings, options: SubscriptionOptions): AsyncIterable<StreamItem> =>
  subscribe(options).pipe(Stream.provide(NarthexClient.layerFetch(settings)), Stream.toAsyncIterable)

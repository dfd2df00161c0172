/** Calls that follow something over time: event streams, and the end of operations. */
import { Duration, Effect, Stream } from "effect"
import type { NarthexError } from "../../problems/NarthexError.ts"
import type { StreamItem, SubscriptionOptions } from "../Subscription.ts"
import type { AwaitedOperation } from "../waitFor.ts"
import type * as Answers from "./answers.ts"

/** An event as it is sent. A newer server adds members. */
export type ClientEvent = Answers.Envelope

/** An item of a subscription. `position` resumes after it: pass it as `after`. */
export type ClientItem = { readonly position: string | undefined } & (
  | { readonly kind: "event"; readonly event: ClientEvent }
  /** Events were missed: read the state again. */
  | { readonly kind: "gap"; readonly reason: string; readonly event: ClientEvent }
  /** The program read too slowly, and the server closed the stream: read the state again. A reconnect follows. */
  | { readonly kind: "overflow"; readonly dropped: number | undefined; readonly event: ClientEvent }
  /** The server could not send an event. */
  | { readonly kind: "producer_error"; readonly event: ClientEvent }
  /** A connection is open. Without a position, earlier events are not delivered: read the state. */
  | { readonly kind: "connected" }
  /** The position advanced without an event for this subscription. */
  | { readonly kind: "bookmark" }
  /** A frame that is not an event. */
  | { readonly kind: "unreadable"; readonly name: string; readonly data: string }
  /** The connection is lost; the next attempt starts after `delay` milliseconds. */
  | { readonly kind: "reconnecting"; readonly why: string; readonly delay: number }
)

export interface FollowOptions {
  /** Resume after the event with this id; left out: start with new events. */
  readonly after?: string
  /** The events of this project; left out: of the organization. */
  readonly project_id?: string
  /** Only events of these types. Gaps and overflows are always delivered. */
  readonly types?: ReadonlyArray<string>
  /** Ends the loop. */
  readonly signal?: AbortSignal
  /**
   * The heartbeat interval of the server in milliseconds; 2.5 silent intervals mean a dead connection. Default: 15,000.
   */
  readonly heartbeat?: number
}

export interface Following {
  /**
   * The events as an async iterable, over as many connections as needed. Leaving the loop closes the connection. A
   * refusal, for example after a revocation, is thrown as a `NarthexError`.
   */
  readonly subscribe: (options?: FollowOptions) => AsyncIterable<ClientItem>
}

export type OperationAnswer = Answers.Operation

export interface OperationClient {
  /**
   * Resolves when the operation has reached a final status: `finished`, `failed`, `error`, `cancelled` or `skipped`.
   * Rejects with `timed_out` after `timeout` milliseconds (default: 5 minutes); the operation continues on the server.
   */
  readonly waitFor: (
    operation: AwaitedOperation,
    options?: { readonly signal?: AbortSignal; readonly timeout?: number }
  ) => Promise<OperationAnswer>
}

/** A subscription as the Effect form takes it. */
export const subscriptionOf = ({ after, heartbeat, project_id, types }: FollowOptions): SubscriptionOptions => ({
  path: project_id === undefined ? "/v1/events" : `/v1/projects/${encodeURIComponent(project_id)}/events`,
  ...(after === undefined ? {} : { lastEventId: after }),
  ...(types === undefined ? {} : { types }),
  ...(heartbeat === undefined ? {} : { heartbeat: Duration.millis(heartbeat) })
})

// The JSON decoded to an envelope before, so it has the members of one.
const eventOf = ({ sent }: { readonly sent: unknown }) => sent as ClientEvent

/** The items of the Effect form without Effect's types. `position`: where the stream stands before the first. */
const itemsFrom = (start: string | undefined) => {
  let position = start
  return (item: StreamItem): ClientItem => {
    if ("envelope" in item) position = item.envelope.id
    switch (item._tag) {
      case "Connected":
        position = item.lastEventId
        return { kind: "connected", position }
      case "Bookmark":
        position = item.lastEventId
        return { kind: "bookmark", position }
      case "Event":
        return { kind: "event", position, event: eventOf(item) }
      case "Gap":
        return { kind: "gap", position, reason: item.reason, event: eventOf(item) }
      case "Overflow":
        return { kind: "overflow", position, dropped: item.dropped, event: eventOf(item) }
      case "ProducerError":
        return { kind: "producer_error", position, event: eventOf(item) }
      case "Unreadable":
        return { kind: "unreadable", position, name: item.event, data: item.data }
      case "Reconnecting":
        return { kind: "reconnecting", position, why: item.why, delay: item.delay }
    }
  }
}

const aborted = (signal: AbortSignal) =>
  Effect.callback<void>((resume) => {
    const end = () => resume(Effect.void)
    if (signal.aborted) return end()
    signal.addEventListener("abort", end, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", end))
  })

/** The items as an async iterable. Each loop over it is a subscription of its own. */
export const iterated = (
  stream: Stream.Stream<StreamItem, NarthexError>,
  { after, signal }: FollowOptions
): AsyncIterable<ClientItem> =>
  Stream.suspend(() => {
    const items = Stream.map(stream, itemsFrom(after))
    return signal === undefined ? items : Stream.interruptWhen(items, aborted(signal))
  }).pipe(Stream.toAsyncIterable)

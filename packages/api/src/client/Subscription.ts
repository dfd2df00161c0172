/**
 * The options and items of a subscription to an event stream (docs/design/events.md E39).
 *
 * A subscription never ends by itself: it reconnects until the server refuses it. Consumers see connections as items, and
 * must read the state that they keep again on `Gap` and `Overflow`.
 */
import type { Envelope } from "@narthex/core"
import { type Duration, Schema } from "effect"

export type StreamPath = "/v1/events" | `/v1/projects/${string}/events`

export interface SubscriptionOptions {
  readonly path: StreamPath
  /** Resume after the event with this id; left out: start with new events. */
  readonly lastEventId?: string
  /** Only events of these types. Frames of the broker are always delivered. */
  readonly types?: ReadonlyArray<string>
  /** Request bookmarks and `retry:`, so that a stream without events keeps its position. Default: `true`. */
  readonly bookmarks?: boolean
  /** The heartbeat interval of the server. Silence of 2.5 intervals means a dead connection. Default: 15 seconds. */
  readonly heartbeat?: Duration.Input
}

/** An envelope with the members that this version knows, and the JSON as sent: a newer server adds members. */
export interface SentEnvelope {
  readonly envelope: Envelope
  readonly sent: Schema.Json
}

export type StreamItem =
  /** A connection is open. It resumes after `lastEventId`. */
  | { readonly _tag: "Connected"; readonly lastEventId: string | undefined }
  | ({ readonly _tag: "Event" } & SentEnvelope)
  /** Events were missed: read the state again. */
  | ({ readonly _tag: "Gap"; readonly reason: string } & SentEnvelope)
  /** The client read too slowly and the server closed the stream: read the state again. A reconnect follows. */
  | ({ readonly _tag: "Overflow"; readonly dropped: number | undefined } & SentEnvelope)
  /** An event whose producer could not send it. */
  | ({ readonly _tag: "ProducerError" } & SentEnvelope)
  /** The position advanced without an event for this subscription. */
  | { readonly _tag: "Bookmark"; readonly lastEventId: string }
  /** A frame that is not an envelope. Its id still advances the position. */
  | { readonly _tag: "Unreadable"; readonly event: string; readonly data: string }
  /** The connection is lost; the next attempt starts after `delay` milliseconds. */
  | { readonly _tag: "Reconnecting"; readonly why: string; readonly delay: number }

/** The server refused the stream and a retry would not help. On `token_expired`, refresh and subscribe again. */
export class StreamRefused extends Schema.TaggedError<StreamRefused>()("StreamRefused", {
  status: Schema.Int,
  code: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

/** How long a connection may be silent, in heartbeat intervals. */
export const silentHeartbeats = 2.5

/** The first and the longest back-off in milliseconds, where the server sends no `retry:`; each attempt doubles it. */
export const firstDelay = 500
export const lastDelay = 30_000

export interface DelayInputs {
  /** Attempts since the last progress, from 0. */
  readonly attempt: number
  /** The last `retry:` of the server, in milliseconds. */
  readonly retry: number | undefined
  /** The `Retry-After` of this refusal, in milliseconds: a lower bound. */
  readonly retryAfter: number | undefined
  /** 0 to 1. */
  readonly random: number
}

/** The next delay in milliseconds: half fixed, half jitter, so that clients that were cut off together spread out. */
export const nextDelay = ({ attempt, random, retry, retryAfter }: DelayInputs): number => {
  const ceiling = Math.max(retry ?? 0, Math.min(lastDelay, (retry ?? firstDelay) * 2 ** Math.min(attempt, 10)))
  return Math.max(retryAfter ?? 0, 0) + Math.round(ceiling * (0.5 + random / 2))
}

/**
 * What a subscription to an event stream is given and what it yields (docs/design/events.md E39).
 *
 * A subscription never ends by itself: it reconnects until it is told no. So a consumer sees connections as values, and
 * must re-read the state it keeps on `Gap` and `Overflow`.
 */
import { type Duration, Schema } from "effect"
import type { Envelope } from "@narthex/core"

export type StreamPath = "/v1/events" | `/v1/projects/${string}/events`

export interface SubscriptionOptions {
  readonly path: StreamPath
  /** Go on after this event; left out: from now on. */
  readonly lastEventId?: string
  /** Only these types; frames of the broker always come. */
  readonly types?: ReadonlyArray<string>
  /** Ask for bookmarks and `retry:`, so that a quiet stream keeps its position. Yes unless said. */
  readonly bookmarks?: boolean
  /** How often the server sends a sign of life; two and a half times that in silence is a dead connection. 15 s. */
  readonly heartbeat?: Duration.Input
}

/** An envelope as far as this version knows it, and as the server sent it: a newer one adds members. */
export interface SentEnvelope {
  readonly envelope: Envelope
  readonly sent: Schema.Json
}

export type StreamItem =
  /** A connection is up, asked to go on after `lastEventId`. */
  | { readonly _tag: "Connected"; readonly lastEventId: string | undefined }
  | ({ readonly _tag: "Event" } & SentEnvelope)
  /** Events were missed: re-read the state. */
  | ({ readonly _tag: "Gap"; readonly reason: string } & SentEnvelope)
  /** We read too slowly and were cut off: re-read the state. The reconnect follows by itself. */
  | ({ readonly _tag: "Overflow"; readonly dropped: number | undefined } & SentEnvelope)
  /** An event that its producer could not send. */
  | ({ readonly _tag: "ProducerError" } & SentEnvelope)
  /** The position moved without an event for us. */
  | { readonly _tag: "Bookmark"; readonly lastEventId: string }
  /** A frame that is no envelope. Its id counts all the same. */
  | { readonly _tag: "Unreadable"; readonly event: string; readonly data: string }
  /** The connection is gone; the next attempt comes after `delay` milliseconds. */
  | { readonly _tag: "Reconnecting"; readonly why: string; readonly delay: number }

/** The server said no, and asking again would not help. On `token_expired`, refresh and subscribe anew. */
export class StreamRefused extends Schema.TaggedError<StreamRefused>()("StreamRefused", {
  status: Schema.Int,
  code: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

/** How long a connection may be silent, in heartbeats. */
export const silentHeartbeats = 2.5

/** Waits between attempts in milliseconds, where the server names none: they double from the first to the last. */
export const firstDelay = 500
export const lastDelay = 30_000

export interface DelayInputs {
  /** Attempts since the last progress, from 0. */
  readonly attempt: number
  /** What `retry:` said last. */
  readonly retry: number | undefined
  /** What `Retry-After` said just now; never undercut. */
  readonly retryAfter: number | undefined
  /** 0 to 1. */
  readonly random: number
}

/** The next wait: half of it fixed, half of it chance, so that clients which were cut off together come back apart. */
export const nextDelay = ({ attempt, random, retry, retryAfter }: DelayInputs): number => {
  const ceiling = Math.max(retry ?? 0, Math.min(lastDelay, (retry ?? firstDelay) * 2 ** Math.min(attempt, 10)))
  return Math.max(retryAfter ?? 0, 0) + Math.round(ceiling * (0.5 + random / 2))
}

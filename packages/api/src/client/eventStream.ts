/**
 * A subscription over as many connections as needed (docs/design/events.md E39).
 *
 * 1. Connect with the position. A refusal ends the subscription, unless it is `token_expired` and the client has a session;
 *    every other failure is retried.
 * 2. Read blocks. Silence is measured in bytes, so heartbeats count and a slow consumer is not taken for silence.
 * 3. When the connection is lost: emit `Reconnecting`, wait, go to 1. An event, a bookmark or a connection that lasted
 *    resets the back-off.
 *
 * Pitfall: dropping events at or below the last id. After the database is restored from a backup, the stream is behind
 * the position that a client kept, and starts with a gap.
 */
import { Envelope } from "@narthex/core"
import { Clock, Duration, Effect, Option, Random, type Redacted, Schema, type Scope, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { readProblem } from "../problems/OtherProblem.ts"
import type { ClientTokens } from "./ClientSession.ts"
import { refusedByFetch } from "./retries.ts"
import { retryAfterMillis } from "./retryAfter.ts"
import { type SseItem, SseParser } from "./SseParser.ts"
import {
  nextDelay,
  type SentEnvelope,
  type StreamItem,
  StreamRefused,
  type SubscriptionOptions,
  silentHeartbeats
} from "./Subscription.ts"

/** The connection is lost or could not be opened; a retry may help. */
class Lost extends Schema.TaggedError<Lost>()("Lost", {
  why: Schema.String,
  retryAfter: Schema.optionalKey(Schema.Finite)
}) {}

interface Position {
  lastEventId: string | undefined
  retry: number | undefined
  attempt: number
  /** Why the server is about to close the stream, from its comment. */
  closing: string | undefined
}

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))
const decodeEnvelope = Schema.decodeUnknownOption(Envelope)

const readSent = (data: string): Option.Option<SentEnvelope> =>
  Option.flatMap(parseJson(data), (sent) => Option.map(decodeEnvelope(sent), (envelope) => ({ envelope, sent })))

/** `client` adds the base URL and the credential to each request. `session` replaces a token that has expired. */
export const eventStream = <E>(
  client: HttpClient.HttpClient.With<E>,
  options: SubscriptionOptions,
  session?: ClientTokens
): Stream.Stream<StreamItem, StreamRefused> =>
  Stream.suspend(() => {
    const position: Position = {
      lastEventId: options.lastEventId,
      retry: undefined,
      attempt: 0,
      closing: undefined
    }
    const silence = Duration.times(Duration.fromInputUnsafe(options.heartbeat ?? "15 seconds"), silentHeartbeats)
    return Stream.forever(round({ client: HttpClient.withScope(client), options, session, silence }, position))
  })

interface Subscriber<E> {
  readonly client: HttpClient.HttpClient.With<E, Scope.Scope>
  readonly options: SubscriptionOptions
  readonly session: ClientTokens | undefined
  readonly silence: Duration.Duration
}

/** A connection, its end, and the delay before the next one. */
const round = <E>(
  { client, options, session, silence }: Subscriber<E>,
  position: Position
): Stream.Stream<StreamItem, StreamRefused> =>
  Stream.suspend(() => {
    position.closing = undefined
    let lost: Lost | undefined
    let since: number | undefined
    const connection = Stream.unwrap(
      Effect.gen(function* () {
        const from = position.lastEventId
        const used = session?.token()
        const response = yield* client.execute(requestOf(options, from)).pipe(
          Effect.mapError(failureOf),
          Effect.tap(checkAnswer),
          Effect.catchTag("StreamRefused", (refusal) => afterExpiry(refusal, session, used)),
          Effect.timeoutOrElse({ duration: silence, orElse: () => new Lost({ why: "no answer" }) })
        )
        since = yield* Clock.currentTimeMillis
        const parser = new SseParser(from)
        const items = response.stream.pipe(
          Stream.mapError((error) => new Lost({ why: error.message })),
          Stream.timeoutOrElse({ duration: silence, orElse: () => Stream.fail(new Lost({ why: "silence" })) }),
          Stream.mapEffect((bytes) =>
            Effect.try({
              try: () => parser.feed(bytes).flatMap((item) => itemsOf(item, position)),
              catch: () => new Lost({ why: "a block was too large" })
            })
          ),
          Stream.flattenIterable
        )
        const connected: StreamItem = { _tag: "Connected", lastEventId: from }
        return Stream.concat(Stream.succeed(connected), items)
      })
    ).pipe(
      Stream.catchTag("Lost", (reason) => {
        lost = reason
        return Stream.empty
      })
    )
    const wait = Stream.unwrap(
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (since !== undefined && now - since >= Duration.toMillis(silence)) position.attempt = 0
        const delay = nextDelay({
          attempt: position.attempt,
          retry: position.retry,
          retryAfter: lost?.retryAfter,
          random: yield* Random.next
        })
        position.attempt += 1
        const why = position.closing ?? lost?.why ?? "the stream ended"
        const item: StreamItem = { _tag: "Reconnecting", why, delay }
        return Stream.concat(Stream.succeed(item), Stream.fromEffectDrain(Effect.sleep(delay)))
      })
    )
    return Stream.concat(connection, wait)
  })

/** Replaces a token that has expired, so that the next connection has a new one. Every other refusal stays final. */
const afterExpiry = (
  refusal: StreamRefused,
  session: ClientTokens | undefined,
  used: Redacted.Redacted | undefined
): Effect.Effect<never, Lost | StreamRefused> => {
  if (refusal.code !== "token_expired" || session === undefined || used === undefined) return Effect.fail(refusal)
  return session.renewed(used).pipe(
    Effect.mapError(failureOf),
    Effect.flatMap((renewal) =>
      renewal._tag === "Refused"
        ? Effect.flatMap(checkAnswer(renewal.response), () => Effect.fail(refusal))
        : Effect.void
    ),
    Effect.andThen(new Lost({ why: refusal.code }))
  )
}

const requestOf = (options: SubscriptionOptions, lastEventId: string | undefined) =>
  HttpClientRequest.get(options.path, {
    headers: {
      accept: "text/event-stream",
      "cache-control": "no-store",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId })
    },
    urlParams: {
      ...(options.types === undefined ? {} : { types: options.types.join(",") }),
      ...(options.bookmarks === false ? {} : { bookmarks: "1" })
    }
  })

/** An invalid URL is final, and so is a refusal of the program's own `fetch`; every other transport error may pass. */
const failureOf = (error: unknown): Lost | StreamRefused => {
  if (!HttpClientError.isHttpClientError(error)) return new Lost({ why: String(error) })
  const refusal = refusedByFetch(error)
  if (refusal !== undefined)
    return new StreamRefused({ status: refusal.status, code: refusal.code, detail: refusal.detail })
  return error.reason._tag === "InvalidUrlError"
    ? new StreamRefused({ status: 0, code: "invalid_url", detail: error.message })
    : new Lost({ why: error.message })
}

/** Succeeds for an event stream only. */
const checkAnswer = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const { headers, status } = response
  const isStream = /^text\/event-stream\s*(;|$)/i.test(headers["content-type"] ?? "")
  if (status === 200 && isStream) return
  if (status < 300)
    return yield* new StreamRefused({
      status,
      code: "not_an_event_stream",
      detail: "The answer is not an event stream."
    })
  const problem = yield* Effect.mapError(readProblem(response), failureOf)
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const asked = retryAfterMillis(headers["retry-after"], yield* Clock.currentTimeMillis) ?? problem.retry_after_ms
    return yield* new Lost({
      why: problem.code === "unknown" ? `status ${status}` : problem.code,
      ...(asked === undefined ? {} : { retryAfter: asked })
    })
  }
  return yield* new StreamRefused({ status, code: problem.code, detail: problem.message })
})

/** Advances the position, and returns the items for the consumer. */
const itemsOf = (item: SseItem, position: Position): ReadonlyArray<StreamItem> => {
  switch (item._tag) {
    case "Retry":
      position.retry = Math.min(item.millis, longestRetry)
      return []
    case "Comment":
      position.closing = /^closing reason=(\w+)/.exec(item.text)?.[1] ?? position.closing
      return []
    case "Block": {
      const moved = item.id !== (position.lastEventId ?? "")
      position.lastEventId = item.id === "" ? undefined : item.id
      if (item.data === undefined && !moved) return []
      position.attempt = 0
      if (item.data === undefined) return item.id === "" ? [] : [{ _tag: "Bookmark", lastEventId: item.id }]
      return [itemOf(item.event, item.data)]
    }
  }
}

/** The longest `retry:` that is honoured, in milliseconds. */
const longestRetry = 300_000

const itemOf = (event: string, data: string): StreamItem =>
  Option.match(readSent(data), {
    onNone: () => ({ _tag: "Unreadable", event, data }),
    onSome: ({ envelope, sent }) => {
      switch (envelope.type) {
        case "resume.gap.v1":
          return { _tag: "Gap", envelope, sent, reason: String(envelope.data["reason"] ?? "unknown") }
        case "overflow.v1": {
          const dropped = envelope.data["dropped"]
          return { _tag: "Overflow", envelope, sent, dropped: typeof dropped === "number" ? dropped : undefined }
        }
        case "error.v1":
          return { _tag: "ProducerError", envelope, sent }
        default:
          return { _tag: "Event", envelope, sent }
      }
    }
  })

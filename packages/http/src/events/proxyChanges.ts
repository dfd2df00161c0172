/**
 * The stream of changes for proxies: of allowlists and of endpoints, and cancel requests. It carries hints only, so it has no ids and no
 * replay: after a reconnect, a proxy requests what it knows again. Proxies ignore events that they do not know.
 */
import {
  allowlistChangeOf,
  cancelNoticeOf,
  type EventFeed,
  endpointChangeOf,
  type LoggedEvent,
  type StreamSink
} from "@narthex/core"
import { type Duration, Effect, Option, Schedule, Stream } from "effect"

const encoder = new TextEncoder()

const frame = (event: "change" | "endpoint" | "cancel") => (data: object) =>
  `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** The frame for an event; none for most. */
const frameOf = (event: LoggedEvent) =>
  Option.map(allowlistChangeOf(event), frame("change")).pipe(
    Option.orElse(() => Option.map(endpointChangeOf(event), frame("endpoint"))),
    Option.orElse(() => Option.map(cancelNoticeOf(event), frame("cancel")))
  )

/** Runs until the proxy closes the connection. */
export const streamChanges = (
  feed: EventFeed["Service"],
  open: () => StreamSink,
  heartbeat: Duration.Duration
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const sink = open()
    const write = (text: string) => Effect.sync(() => void sink.write(encoder.encode(text)))
    const changes = feed.events.pipe(
      Stream.runForEach((event) => Option.match(frameOf(event), { onNone: () => Effect.void, onSome: write }))
    )
    const beats = Effect.repeat(write(":\n"), Schedule.spaced(heartbeat))
    const gone = Effect.callback<void>((resume) => {
      sink.onClose(() => resume(Effect.void))
    })
    return Effect.andThen(
      write(": ok\n\n"),
      Effect.raceFirst(gone, Effect.all([changes, beats], { concurrency: 2, discard: true }))
    ).pipe(Effect.ensuring(Effect.sync(() => sink.end())))
  })

/**
 * The stream of allowlist changes for proxies. It carries hints only, so it has no ids and no replay: after a reconnect, a
 * proxy requests its snapshots again.
 */
import { allowlistChangeOf, type EventFeed, SseBytes, type StreamSink } from "@narthex/core"
import { type Duration, Effect, Option, Schedule, Stream } from "effect"

/** Runs until the proxy closes the connection. */
export const streamChanges = (
  feed: EventFeed["Service"],
  open: () => StreamSink,
  heartbeat: Duration.Duration
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const sink = open()
    const write = (text: string) => Effect.sync(() => void sink.write(SseBytes.ofText(text)))
    const changes = feed.events.pipe(
      Stream.runForEach((event) =>
        Option.match(allowlistChangeOf(event), {
          onNone: () => Effect.void,
          onSome: (change) => write(`event: change\ndata: ${JSON.stringify(change)}\n\n`)
        })
      )
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

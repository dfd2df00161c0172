/** Stops the streams of an instance (docs/design/events.md E32): refuses new ones, and ends the open ones gradually. */
import { Deferred, Duration, Effect, Exit, Fiber, Random, Schema, type Scope } from "effect"
import { bytesOf, comment, retry } from "../ring/SseFrame.ts"
import type { EventStream } from "./EventStream.ts"
import type { OpenStream } from "./OpenStream.ts"
import type { EndReason } from "./StreamMetrics.ts"
import type { StreamSink } from "./StreamSink.ts"

/** Milliseconds from one step of ending streams to the next. */
const stepMillis = 50
/** Streams that end per second at least. */
const slowestRate = 200

/** The instance is about to stop. */
export class StreamsDraining extends Schema.TaggedError<StreamsDraining>()("StreamsDraining", {
  retry_after_seconds: Schema.Int
}) {
  override get message() {
    return "This instance is stopping. Connect again."
  }
}

export class Drain {
  readonly #streams: ReadonlySet<EventStream>
  readonly #linger: Duration.Duration
  readonly #scope: Scope.Scope
  #over: Duration.Duration | undefined

  /** `linger`: how long a refused client may take to hang up. `scope`: where that is waited for. */
  constructor(streams: ReadonlySet<EventStream>, linger: Duration.Duration, scope: Scope.Scope) {
    this.#streams = streams
    this.#linger = linger
    this.#scope = scope
  }

  get begun(): boolean {
    return this.#over !== undefined
  }

  /** Ends all streams in random order, evenly over this time or faster, and waits until their connections are gone. */
  endAll(over: Duration.Duration): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#over = over
      const streams = yield* Random.shuffle(this.#streams)
      const perSecond = Math.max(slowestRate, (streams.length * 1_000) / Math.max(1, Duration.toMillis(over)))
      const perStep = Math.ceil((perSecond * stepMillis) / 1_000)
      for (let at = 0; at < streams.length; at += perStep) {
        for (const stream of streams.slice(at, at + perStep)) yield* this.end(stream)
        if (at + perStep < streams.length) yield* Effect.sleep(stepMillis)
      }
      yield* Effect.forEach(streams, gone, { discard: true })
    })
  }

  /** Ends one stream. */
  end(stream: EventStream): Effect.Effect<void> {
    return Effect.map(this.#retryMillis, (millis) => stream.end("draining", millis))
  }

  /** Refuses a client. A client that requests bookmarks supports `retry:`; all others get the status. */
  refuse(request: {
    readonly bookmarks: boolean
    readonly open: () => StreamSink
  }): Effect.Effect<OpenStream, StreamsDraining> {
    return Effect.gen({ self: this }, function* () {
      const millis = yield* this.#retryMillis
      if (!request.bookmarks) return yield* new StreamsDraining({ retry_after_seconds: Math.ceil(millis / 1_000) })
      const sink = request.open()
      const gone = Deferred.makeUnsafe<EndReason>()
      sink.onClose(() => Deferred.doneUnsafe(gone, Exit.succeed("draining")))
      sink.write(bytesOf(`${comment("ok")}${retry(millis)}${comment("closing reason=draining")}`))
      sink.end()
      const destroy = Effect.sync((): EndReason => {
        sink.destroy()
        return "draining"
      })
      // In a fiber of its own: the caller may not wait for the end.
      const end = Effect.timeoutOrElse(Deferred.await(gone), { duration: this.#linger, orElse: () => destroy })
      const ending = yield* Effect.forkIn(end, this.#scope)
      return { ended: Fiber.join(ending), close: Effect.sync(() => sink.destroy()) }
    })
  }

  /** When a client is to reconnect: within the time that the instance takes to stop. */
  get #retryMillis(): Effect.Effect<number> {
    return Random.nextBetween(1_000, Math.max(1_001, Duration.toMillis(this.#over ?? 0)))
  }
}

const gone = (stream: EventStream) =>
  Effect.suspend(() => {
    const done = Deferred.makeUnsafe<void>()
    stream.onGone(() => Deferred.doneUnsafe(done, Exit.void))
    return Deferred.await(done)
  })

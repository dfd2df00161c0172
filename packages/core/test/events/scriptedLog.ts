/** A log whose rows and answers a test states, with a feed and streams over it that poll once a minute. */
import { type DateTime, Duration, Effect, Layer, Option, PubSub, Stream } from "effect"
import type { LoggedEvent } from "../../src/records/events/Envelope.ts"
import { EventFeed } from "../../src/records/events/EventFeed.ts"
import { noEvent } from "../../src/records/events/EventId.ts"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { defaultEventSettings, EventSettings } from "../../src/records/events/EventSettings.ts"
import { StorageError } from "../../src/StorageError.ts"
import { EventBroker } from "../../src/services/events/streams/EventBroker.ts"
import { EventStreams } from "../../src/services/events/streams/EventStreams.ts"
import { StreamAuthority } from "../../src/services/events/streams/StreamAuthority.ts"

/** The rows and answers of the log; a test changes them as it runs. */
export class Script {
  rows: ReadonlyArray<LoggedEvent> = []
  /** The newest position, where that is not the last row's. */
  head: number | undefined
  /** The id of the newest event, where that is not the last row's. */
  headId: string | undefined
  /** The newest id of every organization, where that is not the last row's. */
  headOf: string | undefined
  /** The id up to which every organization's events count as trimmed. */
  floor = noEvent
  fails = false
  /** Whether another instance is giving ids. */
  busy = false
  /** How often the log was asked for ids, and read. */
  readonly asked = { sequence: 0, tail: 0 }
  readonly #hints = Effect.runSync(PubSub.unbounded<void>())
  readonly hint = PubSub.publish(this.#hints, undefined)
  readonly trims: Array<{ readonly before: DateTime.Utc; readonly keep: number }> = []

  get #last() {
    return this.rows.at(-1)
  }

  readonly #answer = <A>(answer: () => A) =>
    Effect.suspend(() =>
      this.fails ? Effect.fail(new StorageError({ operation: "script", cause: "outage" })) : Effect.sync(answer)
    )

  readonly log: EventLog["Service"] = {
    append: () => Effect.void,
    sequence: this.#answer(() => {
      this.asked.sequence += 1
      return this.busy ? "busy" : "idle"
    }),
    head: this.#answer(() => ({
      pos: this.head ?? this.#last?.pos ?? 0,
      id: this.headId ?? this.#last?.id ?? noEvent
    })),
    headOf: (_, upTo = this.headOf ?? this.#last?.id ?? noEvent) =>
      this.#answer(() => {
        const ids = [...this.rows.map(({ id }) => id), this.headOf ?? noEvent].filter((id) => id <= upTo)
        return [this.floor, ...ids].toSorted().at(-1) ?? noEvent
      }),
    tail: (after, limit) =>
      this.#answer(() => {
        this.asked.tail += 1
        return this.rows.filter(({ pos }) => pos > after).slice(0, limit)
      }),
    window: (_, cap) => this.#answer(() => ({ events: this.rows.slice(-cap), floor: Option.none() })),
    scopeHasBetween: () => this.#answer(() => false),
    history: () => this.#answer(() => ({ events: [], oldest_id: Option.none(), complete: true, more: false })),
    newest: () => this.#answer(() => ({ events: [], oldest_id: Option.none(), complete: true, more: false })),
    wakeups: Stream.fromPubSub(this.#hints),
    wake: Effect.void,
    trim: (before, keep) => this.#answer(() => this.trims.push({ before, keep }))
  }

  layer(settings: Partial<EventSettings> = {}) {
    return EventStreams.layer.pipe(
      Layer.provideMerge(EventBroker.layer),
      Layer.provideMerge(EventFeed.layer),
      Layer.provide(Layer.succeed(StreamAuthority, { permits: () => Effect.succeed(true) })),
      Layer.provideMerge(Layer.succeed(EventLog, this.log)),
      Layer.provide(Layer.succeed(EventSettings, { ...defaultEventSettings, poll: Duration.minutes(1), ...settings }))
    )
  }
}

/**
 * The one reader of the log in an instance (docs/design/events.md E12–E14): gives committed events their ids, reads
 * what is new in order, and offers it to subscribers.
 *
 * The feed polls; a hint, sent when events have got their ids, only makes it read sooner. While the store fails, the
 * feed retries with back-off, and it notifies its subscribers when the store answers again.
 *
 * Pitfall: taking `events` for the log. They are hints: a slow reader loses the oldest, so it must read the state.
 */
import {
  Cause,
  Clock,
  Context,
  DateTime,
  Deferred,
  Duration,
  Effect,
  Layer,
  Option,
  PubSub,
  Queue,
  Schedule,
  type Scope,
  Stream
} from "effect"
import { becauseOf } from "../../becauseOf.ts"
import type { StorageError } from "../../StorageError.ts"
import type { LoggedEvent } from "./Envelope.ts"
import { EventLog } from "./EventLog.ts"
import { eventMetrics, makeRecorder } from "./EventMetrics.ts"
import { EventSettings } from "./EventSettings.ts"

/** Back-off after a failure, in milliseconds. */
const firstWait = 100
const longestWait = 5_000
const trimInterval = "10 minutes"

/**
 * A synchronous subscriber of the feed: the feed continues when a method has returned. A method that throws is taken
 * for a failure of the log, and the same batch is delivered again after the back-off.
 */
export interface FeedSubscriber {
  /**
   * The feed starts behind this position, or starts again because the log went back or lost positions. The next events
   * do not continue the events that were delivered before.
   */
  readonly restart?: (pos: number) => void
  /** The next events of the log, in order of position, internal events included. */
  readonly deliver?: (batch: ReadonlyArray<LoggedEvent>) => void
  /** The log answers again after a failure, and the position is unchanged. */
  readonly resumed?: () => void
}

type LogHead = Pick<LoggedEvent, "pos" | "id">

export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** Done when the log was reached for the first time. */
    readonly ready: Effect.Effect<void>
    /** Reads the log once more, and is done when everything that it held at this call has been delivered. */
    readonly refresh: Effect.Effect<void>
    /** Subscribes until the scope closes. If the feed has started, `restart` is called at once with its position. */
    readonly subscribe: (subscriber: FeedSubscriber) => Effect.Effect<void, never, Scope.Scope>
    /** The events from now on, internal events included. Hints: a slow reader loses the oldest. */
    readonly events: Stream.Stream<LoggedEvent>
  }
>()("@narthex/core/records/events/EventFeed") {
  static readonly layer: Layer.Layer<EventFeed, never, EventLog> = Layer.effect(
    EventFeed,
    Effect.gen(function* () {
      const log = yield* EventLog
      const settings = yield* EventSettings
      const record = makeRecorder(yield* Effect.context<never>())
      record(eventMetrics.sequenceBusy, 0) // shown before it counts: an alert on the first increase needs the zero
      const learned = yield* PubSub.sliding<LoggedEvent>(settings.waiter_backlog)
      const hints = yield* Queue.sliding<void>(1)
      const ready = yield* Deferred.make<void>()
      const subscribers = new Set<FeedSubscriber>()
      let waiting: ReadonlyArray<Deferred.Deferred<void>> = []
      /** The event up to which every subscriber has had everything: its position, and its id. */
      let cursor: LogHead | undefined
      let failures = 0
      /** When the feed last gave all events their ids, by the monotonic clock. */
      let sequencedAt: bigint | undefined

      const restart = (head: LogHead) => {
        cursor = head
        for (const subscriber of subscribers) subscriber.restart?.(head.pos)
        return head
      }

      /** Starts behind the log's head. After an outage it goes on where it was: `next` notices a log that went back. */
      const begin = Effect.gen(function* () {
        if (cursor === undefined) restart(yield* log.head)
        else {
          yield* log.head
          for (const subscriber of subscribers) subscriber.resumed?.()
        }
        yield* Deferred.succeed(ready, undefined)
      })

      /**
       * The events behind the cursor. A fail-over may lose the end of the log, and its new events then have the positions of the
       * lost ones, with other ids. So the event at the cursor is read again with each batch.
       *
       * Pitfall: comparing positions alone. A log that went back is soon past the cursor again.
       */
      const next = Effect.fnUntraced(function* (from: LogHead) {
        const [known, ...batch] = yield* tailFrom(from)
        if (known?.pos === from.pos) return known.id === from.id ? batch : undefined
        // The event at the cursor is trimmed, or was lost.
        if (known !== undefined) return [known, ...batch]
        const head = yield* log.head
        return head.pos > from.pos || (head.pos === from.pos && head.id === from.id) ? [] : undefined
      })

      /** The event at the position too, where there is one. */
      const tailFrom = ({ pos }: LogHead) => log.tail(pos - 1, settings.tail_batch + 1)

      /** The time until events are to be given their ids by this feed. */
      const untilDue = Effect.map(Clock.monotonicTimeNanos, (now) =>
        sequencedAt === undefined ? Duration.zero : Duration.subtract(settings.poll, Duration.nanos(now - sequencedAt))
      )

      /**
       * Once for each poll, also while hints come without a pause. Another instance that is sequencing may not see all that is
       * committed, so with the hint that it sends the rest is due.
       */
      const sequenceWhenDue = Effect.gen(function* () {
        if (Duration.isGreaterThan(yield* untilDue, Duration.zero)) return
        const now = yield* Clock.monotonicTimeNanos
        let state = yield* log.sequence
        while (state === "more") state = yield* log.sequence
        sequencedAt = state === "busy" ? undefined : now
      })

      /** Synchronous: a subscriber that joins later starts exactly behind the last batch, which it has not had. */
      const offer = (batch: ReadonlyArray<LoggedEvent>, from: LogHead) => {
        // Positions are dense. A hole means that the missed events are trimmed already.
        const hole = batch.some((event, index) => event.pos !== from.pos + index + 1)
        for (const subscriber of subscribers) {
          if (hole) subscriber.restart?.(from.pos)
          subscriber.deliver?.(batch)
        }
        cursor = batch.at(-1) ?? from
      }

      const publish = (batch: ReadonlyArray<LoggedEvent>) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          for (const event of batch)
            record(eventMetrics.tailLagSeconds, Math.max(0, now - DateTime.toEpochMillis(event.at)) / 1_000)
          yield* PubSub.publishAll(learned, batch)
        })

      const pass: Effect.Effect<void, StorageError> = Effect.gen(function* () {
        const requests = waiting
        if (requests.length > 0) sequencedAt = undefined
        yield* sequenceWhenDue
        for (;;) {
          const from = cursor ?? restart(yield* log.head)
          const batch = yield* next(from)
          if (batch === undefined) restart(yield* log.head)
          else if (batch.length > 0) {
            offer(batch, from)
            yield* publish(batch)
          }
          if (batch !== undefined && batch.length < settings.tail_batch) break
          yield* Effect.yieldNow // lets streams flush between batches
        }
        waiting = waiting.filter((request) => !requests.includes(request))
        yield* Effect.forEach(requests, (request) => Deferred.succeed(request, undefined), { discard: true })
      })

      const follow = Effect.gen(function* () {
        yield* begin
        for (;;) {
          yield* pass
          failures = 0
          const due = yield* untilDue
          const wait = Duration.isGreaterThan(due, Duration.zero) ? due : settings.poll
          const hint = yield* Effect.timeoutOption(Queue.take(hints), wait)
          if (Option.isNone(hint)) sequencedAt = undefined // a timer may end a moment early
        }
      })

      const outage = (cause: Cause.Cause<StorageError>) =>
        Effect.gen(function* () {
          if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
          yield* Effect.logWarning("The event log cannot be read; trying again.").pipe(becauseOf(cause))
          const wait = Math.min(longestWait, firstWait * 2 ** failures)
          failures += 1
          yield* Effect.sleep(wait)
        })

      const trim = Effect.gen(function* () {
        const now = yield* DateTime.now
        yield* log.trim(DateTime.subtractDuration(now, settings.retention), settings.ring_events)
      })

      yield* Stream.runForEach(log.wakeups, () => Queue.offer(hints, undefined)).pipe(Effect.forkScoped)
      yield* follow.pipe(Effect.catchCause(outage), Effect.forever, Effect.forkScoped)
      yield* trim.pipe(
        Effect.catch((error) =>
          Effect.logWarning("Old events were not removed; trying again later.").pipe(becauseOf(error))
        ),
        Effect.repeat(Schedule.spaced(trimInterval)),
        Effect.forkScoped
      )

      return {
        ready: Deferred.await(ready),
        refresh: Effect.gen(function* () {
          const request = yield* Deferred.make<void>()
          waiting = [...waiting, request]
          yield* Queue.offer(hints, undefined)
          yield* Deferred.await(request)
        }).pipe(Effect.withSpan("EventFeed.refresh")),
        subscribe: (subscriber) =>
          Effect.acquireRelease(
            Effect.sync(() => {
              subscribers.add(subscriber)
              if (cursor !== undefined) subscriber.restart?.(cursor.pos)
            }),
            () => Effect.sync(() => subscribers.delete(subscriber))
          ),
        events: Stream.fromPubSub(learned)
      }
    })
  )
}

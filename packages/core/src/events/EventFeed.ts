/**
 * The one reader of the log in an instance (docs/design/events.md E12–E14): gives committed events their ids, reads
 * what is new in order, and hands it to the broker and to whoever waits here.
 *
 * It polls, and hints only make it poll sooner. It never ends for a failing store: it tries again, ever less often, and
 * when the store is back every live stream's right is looked up again.
 *
 * Pitfall: taking `events` for the log. They are hints: a slow reader loses the oldest, so it must read the state.
 */
import { Cause, Clock, Context, DateTime, Deferred, Effect, Layer, PubSub, Queue, Schedule, Stream } from "effect"
import type { StorageError } from "../StorageError.ts"
import type { LoggedEvent } from "./Envelope.ts"
import { EventBroker } from "./streams/EventBroker.ts"
import { EventLog } from "./EventLog.ts"
import { eventMetrics, makeRecorder } from "./EventMetrics.ts"
import { EventSettings } from "./EventSettings.ts"

const firstWait = 100
const longestWait = 5_000
const trimInterval = "10 minutes"

export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** Done when the log was reached for the first time. */
    readonly ready: Effect.Effect<void>
    /** Reads the log once more, and is done when everything that it held at this call has been delivered. */
    readonly refresh: Effect.Effect<void>
    /** What this instance learns of from now on, internal events included. */
    readonly events: Stream.Stream<LoggedEvent>
  }
>()("@narthex/core/events/EventFeed") {
  static readonly layer: Layer.Layer<EventFeed, never, EventLog | EventBroker> = Layer.effect(
    EventFeed,
    Effect.gen(function* () {
      const log = yield* EventLog
      const broker = yield* EventBroker
      const settings = yield* EventSettings
      const record = makeRecorder(yield* Effect.context<never>())
      record(eventMetrics.sequenceBusy, 0) // shown before it counts: an alert on the first increase needs the zero
      const learned = yield* PubSub.sliding<LoggedEvent>(settings.waiterBacklog)
      const hints = yield* Queue.sliding<void>(1)
      const ready = yield* Deferred.make<void>()
      let waiting: ReadonlyArray<Deferred.Deferred<void>> = []
      let cursor: number | undefined
      let failures = 0

      /** Begins behind the log's head, or begins anew when that went back. */
      const begin = Effect.gen(function* () {
        const head = yield* log.head
        if (cursor === undefined || head.pos < cursor) {
          cursor = head.pos
          broker.restart(head.pos)
        } else broker.doubtAll()
        yield* Deferred.succeed(ready, undefined)
        return cursor
      })

      const sequence = Effect.gen(function* () {
        while ((yield* log.sequence) === "more") {
          // Until nothing is left, or somebody else is at it.
        }
      })

      const deliver = (batch: ReadonlyArray<LoggedEvent>, from: number) =>
        Effect.gen(function* () {
          // Positions are dense. A hole means that what we missed is forgotten already: no ring can go on.
          const hole = batch.find((event, index) => event.pos !== from + index + 1)
          if (hole !== undefined) broker.restart(from)
          broker.deliver(batch)
          const now = yield* Clock.currentTimeMillis
          for (const event of batch)
            record(eventMetrics.tailLagSeconds, Math.max(0, now - DateTime.toEpochMillis(event.at)) / 1_000)
          yield* PubSub.publishAll(learned, batch)
        })

      const pass = (from: number): Effect.Effect<number, StorageError> =>
        Effect.gen(function* () {
          const requests = waiting
          yield* sequence
          let pos = from
          for (;;) {
            const batch = yield* log.tail(pos, settings.tailBatch)
            if (batch.length > 0) yield* deliver(batch, pos)
            pos = batch.at(-1)?.pos ?? pos
            cursor = pos
            if (batch.length < settings.tailBatch) break
            yield* Effect.yieldNow // lets the broker flush
          }
          waiting = waiting.filter((request) => !requests.includes(request))
          yield* Effect.forEach(requests, (request) => Deferred.succeed(request, undefined), { discard: true })
          return pos
        })

      const follow = Effect.gen(function* () {
        let pos = yield* begin
        for (;;) {
          pos = yield* pass(pos)
          failures = 0
          yield* Effect.timeoutOption(Queue.take(hints), settings.poll)
        }
      })

      const outage = (cause: Cause.Cause<StorageError>) =>
        Effect.gen(function* () {
          if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
          yield* Effect.logWarning("The event log cannot be read; trying again.", cause)
          const wait = Math.min(longestWait, firstWait * 2 ** failures)
          failures += 1
          yield* Effect.sleep(wait)
        })

      const trim = Effect.gen(function* () {
        const now = yield* DateTime.now
        yield* log.trim(DateTime.subtractDuration(now, settings.retention), settings.ringEvents)
      })

      yield* Stream.runForEach(log.wakeups, () => Queue.offer(hints, undefined)).pipe(Effect.forkScoped)
      yield* follow.pipe(Effect.catchCause(outage), Effect.forever, Effect.forkScoped)
      yield* trim.pipe(
        Effect.catch((error) => Effect.logWarning("Old events were not removed; trying again later.", error)),
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
        events: Stream.fromPubSub(learned)
      }
    })
  )
}

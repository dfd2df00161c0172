/**
 * Opens event streams on connections that callers bring, in the steps of docs/design/events.md E24:
 *
 * 1. Authenticate, check access and limits. Authentication and access are the caller's.
 * 2. Read `Last-Event-ID`; what is no ULID is a gap, not an error.
 * 3. Get the organization's ring, and wait for its load also when the ring exists.
 * 4. An id beyond the ring: read the log once more, wait at most 3 s; still beyond the head is a gap.
 * 5. Find the position by order, never by existence.
 * 6. Send the head of the answer, replay, go live.
 * 7. Replays share a budget.
 *
 * Pitfall: doing anything between choosing the start and attaching. Both happen in one synchronous step, so that no event
 * falls between the replay and what comes live.
 */
import { Context, Deferred, type Duration, Effect, Exit, Fiber, Layer, Result, Schema } from "effect"
import { StorageError } from "../../StorageError.ts"
import { type Admission, EventBroker } from "./EventBroker.ts"
import { EventFeed } from "../EventFeed.ts"
import { comment, retry } from "../ring/SseFrame.ts"
import { type LastEventId, parseLastEventId } from "../EventId.ts"
import { EventLog } from "../EventLog.ts"
import { makeRecorder } from "../EventMetrics.ts"
import type { EndReason } from "./StreamMetrics.ts"
import { EventSettings } from "../EventSettings.ts"
import { ReplayBudget, type ReplayTurn } from "./ReplayBudget.ts"
import { chooseStart, type LogAnswers } from "./Resume.ts"
import type { StreamAccess, StreamOptions } from "./StreamAccess.ts"
import { makeRingLoader } from "./RingLoader.ts"
import { SseBytes } from "../ring/SseBytes.ts"
import { StreamAuthority } from "./StreamAuthority.ts"
import { closeGradually, comeBackAfter, revalidate } from "./StreamCare.ts"
import type { TooManyStreams } from "./StreamLimits.ts"
import type { StreamSink } from "./StreamSink.ts"
import type { EventStream } from "./EventStream.ts"

/** The instance is about to stop. */
export class StreamsDraining extends Schema.TaggedError<StreamsDraining>()("StreamsDraining", {
  retry_after_seconds: Schema.Int
}) {
  override get message() {
    return "This instance is stopping. Connect again."
  }
}

export interface StreamRequest extends StreamOptions {
  /** The header `Last-Event-ID`, as it came. */
  readonly last_event_id: string | undefined
  /** Called once, when the stream is accepted: sends the response's head. */
  readonly open: () => StreamSink
}

export interface OpenStream {
  /** Done when the connection is gone. */
  readonly ended: Effect.Effect<EndReason>
  /** Ends it from this side. */
  readonly close: Effect.Effect<void>
}

/** The stream itself refers to nothing of this: who does not wait for its end costs nothing meanwhile. */
const openStream = (broker: EventBroker["Service"], stream: EventStream): OpenStream => ({
  ended: Effect.callback((resume) => stream.onGone((reason) => resume(Effect.succeed(reason)))),
  close: Effect.sync(() => broker.end(stream, "client_gone"))
})

export class EventStreams extends Context.Service<
  EventStreams,
  {
    /** Done when attached: from then on the stream is the sink's. Interrupted before that, it never was. */
    readonly subscribe: (
      request: StreamRequest
    ) => Effect.Effect<OpenStream, TooManyStreams | StreamsDraining | StorageError>
    /** Refuses new streams and ends the open ones, spread over this time. Done when all connections are gone. */
    readonly drain: (over: Duration.Duration) => Effect.Effect<void>
  }
>()("@narthex/core/events/EventStreams") {
  static readonly layer: Layer.Layer<EventStreams, never, EventBroker | EventFeed | EventLog | StreamAuthority> =
    Layer.effect(
      EventStreams,
      Effect.gen(function* () {
        const broker = yield* EventBroker
        const feed = yield* EventFeed
        const log = yield* EventLog
        const authority = yield* StreamAuthority
        const settings = yield* EventSettings
        const record = makeRecorder(yield* Effect.context<never>())
        const scope = yield* Effect.scope
        const ringOf = makeRingLoader(broker, log, settings.ringEvents, record, scope)
        const budget = new ReplayBudget(settings.replays, settings.replayBytes)
        let draining: Duration.Duration | undefined

        yield* revalidate(broker, authority, settings).pipe(Effect.forkScoped)

        const feedReady = Effect.timeoutOrElse(feed.ready, {
          duration: settings.freshness,
          orElse: () => Effect.fail(new StorageError({ operation: "EventFeed.ready", cause: "not reached yet" }))
        })

        /** Steps 3 to 5: the ring, and what only the log can answer. */
        const prepare = (admission: Admission, { org_id, project_id }: StreamAccess, last: LastEventId) =>
          Effect.gen(function* () {
            yield* feedReady
            if (!(yield* authority.permits(admission.access))) admission.revoke()
            const ring = yield* ringOf(org_id)
            const prepared = (answers: Partial<LogAnswers>) => ({
              ring,
              answers: { ahead: false, lost: true, ...answers }
            })
            if (last._tag !== "After") return prepared({})
            if (last.id > ring.lastId) {
              yield* Effect.timeoutOption(feed.refresh, settings.freshness)
              const ahead = last.id > ring.lastId && last.id > (yield* log.headOf(org_id))
              return prepared({ ahead })
            }
            if (ring.lost(project_id, last.id) !== "unknown") return prepared({})
            return prepared({ lost: yield* log.scopeHasBetween(org_id, project_id, last.id, ring.floor) })
          })

        const subscribe = (request: StreamRequest) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.suspend((): Effect.Effect<OpenStream, TooManyStreams | StreamsDraining | StorageError> => {
              if (draining !== undefined) return turnAway(request, draining)
              const admitted = broker.admit(request.access)
              if (Result.isFailure(admitted)) return Effect.fail(admitted.failure)
              const admission = admitted.success
              const { org_id, project_id } = request.access
              const last = parseLastEventId(request.last_event_id)
              let turn: ReplayTurn | undefined

              const attach: Effect.Effect<OpenStream, StorageError> = Effect.gen(function* () {
                const { answers, ring } = yield* restore(prepare(admission, request.access, last))
                const waiting = last._tag === "After" ? ring.bytesFrom(ring.positionAfter(last.id)) : 0
                if (waiting > 0) {
                  turn = budget.request(waiting)
                  yield* restore(turn.granted)
                }
                if (broker.ring(org_id) !== ring) {
                  turn?.over()
                  return yield* attach // the feed began anew meanwhile
                }
                const start = chooseStart(ring, project_id, last, answers)
                const stream = broker.attach(admission, request, start, request.open)
                if (draining !== undefined) broker.end(stream, "draining", yield* comeBackAfter(draining))
                if (turn !== undefined) stream.onSettled(turn.over)
                return openStream(broker, stream)
              })

              return Effect.onExit(attach, (exit) =>
                Effect.sync(() => {
                  if (Exit.isSuccess(exit)) return
                  turn?.over()
                  admission.cancel()
                })
              )
            })
          ).pipe(Effect.withSpan("EventStreams.subscribe"))

        /** A relay that asks for bookmarks understands `retry:`; all others are told by the status. */
        const turnAway = (
          request: StreamRequest,
          over: Duration.Duration
        ): Effect.Effect<OpenStream, StreamsDraining> =>
          Effect.gen(function* () {
            const millis = yield* comeBackAfter(over)
            if (!request.bookmarks)
              return yield* new StreamsDraining({ retry_after_seconds: Math.ceil(millis / 1_000) })
            const sink = request.open()
            const gone = Deferred.makeUnsafe<EndReason>()
            sink.onClose(() => Deferred.doneUnsafe(gone, Exit.succeed("draining")))
            sink.write(SseBytes.ofText(`${comment("ok")}${retry(millis)}${comment("closing reason=draining")}`))
            sink.end()
            const destroy = Effect.sync((): EndReason => {
              sink.destroy()
              return "draining"
            })
            // Whoever opened it may not wait for its end, so its end does not depend on that.
            const end = Effect.timeoutOrElse(Deferred.await(gone), { duration: settings.linger, orElse: () => destroy })
            const ending = yield* Effect.forkIn(end, scope)
            return { ended: Fiber.join(ending), close: Effect.sync(() => sink.destroy()) }
          })

        return {
          subscribe,
          drain: (over) =>
            Effect.suspend(() => {
              draining = over
              return closeGradually(broker, over)
            }).pipe(Effect.withSpan("EventStreams.drain"))
        }
      })
    )
}

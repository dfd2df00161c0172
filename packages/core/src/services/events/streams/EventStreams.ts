/**
 * Opens event streams on connections that callers bring, in the steps of docs/design/events.md E24:
 *
 * 1. Authenticate, check access and limits. Authentication and access are the caller's.
 * 2. Read `Last-Event-ID`; what is not a ULID is a gap, not an error.
 * 3. Get the organization's ring, and wait for its load also when the ring exists.
 * 4. A position beyond the ring: read the log once more, wait at most 3 s.
 * 5. A position that neither ring nor log has is a gap. Else find it by order.
 * 6. Send the head of the answer, replay, go live.
 * 7. Replays share a budget.
 *
 * Pitfall: doing anything between choosing the start and attaching. Both happen in one synchronous step, so that no
 * event falls between the replay and the live events.
 */
import { Context, type Duration, Effect, Exit, Layer, Option, Result } from "effect"
import { EventFeed } from "../../../records/events/EventFeed.ts"
import { parseLastEventId } from "../../../records/events/EventId.ts"
import { EventLog } from "../../../records/events/EventLog.ts"
import { makeRecorder } from "../../../records/events/EventMetrics.ts"
import { EventSettings } from "../../../records/events/EventSettings.ts"
import { StorageError } from "../../../StorageError.ts"
import { Drain, type StreamsDraining } from "./Drain.ts"
import { EventBroker } from "./EventBroker.ts"
import { type OpenStream, openStream } from "./OpenStream.ts"
import { ReplayBudget, type ReplayTurn } from "./ReplayBudget.ts"
import { askLog, chooseStart } from "./Resume.ts"
import { makeRingLoader } from "./RingLoader.ts"
import { revalidate } from "./revalidate.ts"
import type { StreamOptions } from "./StreamAccess.ts"
import { StreamAuthority } from "./StreamAuthority.ts"
import type { TooManyStreams } from "./StreamLimits.ts"
import type { StreamSink } from "./StreamSink.ts"

export interface StreamRequest extends StreamOptions {
  /** The header `Last-Event-ID`, as the client sent it. */
  readonly last_event_id: string | undefined
  /** Called once, when the stream is accepted: sends the response's head. */
  readonly open: () => StreamSink
}

export class EventStreams extends Context.Service<
  EventStreams,
  {
    /**
     * Done when the stream is attached; from then on it lives as long as the sink. If interrupted before that, nothing
     * was sent. Fails with `StorageError` when the feed has not reached the log, or the log cannot be read.
     */
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
        const ringOf = makeRingLoader(broker, log, settings.ring_events, record, scope)
        const budget = new ReplayBudget(settings.replays, settings.replay_bytes)
        const drain = new Drain(broker.streams, settings.linger, scope)

        yield* revalidate(broker.streams, feed, authority, settings).pipe(Effect.forkScoped)

        const feedReady = Effect.timeoutOrElse(feed.ready, {
          duration: settings.freshness,
          orElse: () => Effect.fail(new StorageError({ operation: "EventFeed.ready", cause: "not reached yet" }))
        })

        const subscribe = (request: StreamRequest) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.suspend((): Effect.Effect<OpenStream, TooManyStreams | StreamsDraining | StorageError> => {
              if (drain.begun) return drain.refuse(request)
              const { access } = request
              const admitted = broker.admit(request) // step 1
              if (Result.isFailure(admitted)) return Effect.fail(admitted.failure)
              const admission = admitted.success
              const last = parseLastEventId(request.last_event_id) // step 2
              let turn: ReplayTurn | undefined

              const locate = Effect.gen(function* () {
                yield* feedReady
                if (!(yield* authority.permits(access))) admission.revoke()
                const ring = yield* ringOf(access.org_id) // step 3
                const findings = yield* askLog(ring, access, last, log, feed, settings.freshness) // steps 4 and 5
                return { findings, ring }
              })

              const attach: Effect.Effect<OpenStream, StorageError> = Effect.gen(function* () {
                const { findings, ring } = yield* restore(locate)
                const waiting = last._tag === "After" ? ring.bytesAfter(last.position) : 0
                if (waiting > 0) {
                  turn = budget.request(waiting) // step 7
                  yield* restore(turn.granted)
                }
                const start = chooseStart(ring, access.project_id, last, findings) // step 5
                const attached = admission.attach(ring, start, request.open) // step 6
                if (Option.isNone(attached)) {
                  turn?.over()
                  return yield* attach // the feed started again, and the ring is gone
                }
                const stream = attached.value
                if (drain.begun) yield* drain.end(stream)
                if (turn !== undefined) stream.onSettled(turn.over)
                return openStream(stream)
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

        return {
          subscribe,
          drain: (over) => drain.endAll(over).pipe(Effect.withSpan("EventStreams.drain"))
        }
      })
    )
}

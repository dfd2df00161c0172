/**
 * The fan-out of one instance: the streams, and what each receives (docs/design/events.md E21–E26). Synchronous: every
 * method is done when it returns, so nothing can happen between a delivery and the revocation behind it.
 *
 * The broker subscribes to `EventFeed`, which delivers in order of position. `EventStreams` brings the clients. A
 * client is admitted first and attached when its ring is loaded.
 *
 * Pitfall: registering a client only when it is attached. A revocation that is delivered while its ring is loading
 * would not find it.
 */
import { Clock, Context, Effect, Layer, Option, Random, Result, Scheduler } from "effect"
import type { OrgId } from "../../../Ids.ts"
import type { LoggedEvent } from "../../../records/events/Envelope.ts"
import { EventFeed } from "../../../records/events/EventFeed.ts"
import type { EventWindow } from "../../../records/events/EventLog.ts"
import { makeRecorder } from "../../../records/events/EventMetrics.ts"
import { EmittingRegion, EventSettings } from "../../../records/events/EventSettings.ts"
import { revocationOf } from "../../../records/events/InternalEvents.ts"
import type { EventRing } from "../ring/EventRing.ts"
import { EventStream, type StreamOwner } from "./EventStream.ts"
import { FlushQueue } from "./FlushQueue.ts"
import { OrgFanout } from "./OrgFanout.ts"
import type { Start } from "./Resume.ts"
import { revokes, type StreamAccess, type StreamOptions } from "./StreamAccess.ts"
import { streamMillis } from "./StreamHost.ts"
import { StreamLimits, type TooManyStreams } from "./StreamLimits.ts"
import { showCounters, streamMetrics } from "./StreamMetrics.ts"
import type { StreamSink } from "./StreamSink.ts"

/**
 * A client whose stream is being opened. It holds its place, and its organization's ring, until attached or cancelled.
 */
export interface Admission {
  readonly access: StreamAccess
  /** The client's right has ended: its stream will end as soon as it is attached, and show nothing. */
  readonly revoke: () => void
  /** Gives the place back. */
  readonly cancel: () => void
  /**
   * Opens the connection, greets, and replays what can be written at once. The place becomes the stream's. `None`: the
   * ring is not the organization's current one; nothing has happened, and the caller loads the ring again.
   */
  readonly attach: (ring: EventRing, start: Start, open: () => StreamSink) => Option.Option<EventStream>
}

export class EventBroker extends Context.Service<
  EventBroker,
  {
    /** The open streams: a live view. */
    readonly streams: ReadonlySet<EventStream>
    /** Takes a place for a client, or says which limit is reached. */
    readonly admit: (options: StreamOptions) => Result.Result<Admission, TooManyStreams>
    /** The organization's ring, if it is loaded. */
    readonly ring: (org: OrgId) => EventRing | undefined
    /**
     * From now on events queue for this ring. `finish` makes the ring from the log's window; `false`: the log started
     * again in between, and the window is useless.
     */
    readonly beginLoad: (org: OrgId) => { readonly finish: (window: EventWindow) => boolean; readonly fail: () => void }
  }
>()("@narthex/core/events/EventBroker") {
  static readonly layer: Layer.Layer<EventBroker, never, EventFeed> = Layer.effect(
    EventBroker,
    Effect.gen(function* () {
      const feed = yield* EventFeed
      const settings = yield* EventSettings
      const clock = yield* Clock.Clock
      const random = yield* Random.Random
      const dispatcher = (yield* Scheduler.Scheduler).makeDispatcher()
      const record = makeRecorder(yield* Effect.context<never>())
      showCounters(record)
      const millis = streamMillis(settings)
      const limits = new StreamLimits(settings.limits)
      const fanouts = new Map<OrgId, OrgFanout>()
      const streams = new Set<EventStream>()
      /** The streams, and ended streams that still send their last bytes. */
      const connections = new Set<EventStream>()
      const admissions = new Set<Admission>()
      /** The position up to which everything was delivered. */
      let delivered = 0

      const host: StreamOwner = {
        settings,
        millis,
        now: () => clock.currentTimeMillisUnsafe(),
        random: () => random.nextDoubleUnsafe(),
        record,
        region_id: yield* EmittingRegion,
        counts: { delivered: 0, bytes: 0, lagging: 0 },
        ended: (stream) => {
          if (!streams.delete(stream)) return
          limits.give(stream.access)
          const fanout = fanouts.get(stream.access.org_id)
          if (fanout === undefined) return
          fanout.streams.delete(stream)
          fanout.usedAt = host.now()
        }
      }

      const queue = new FlushQueue(host, (task) => dispatcher.scheduleTask(task, 0))

      /** Evicts rings without readers, the least recently used first, while all together exceed their budget. */
      const fitMemory = () => {
        let memory = 0
        for (const fanout of fanouts.values()) memory += fanout.ring?.memory ?? 0
        if (memory > settings.rings_bytes) {
          const wanted = new Set(Array.from(admissions, ({ access }) => access.org_id))
          const idle = [...fanouts.values()]
            .filter((it) => it.ring !== undefined && it.streams.size === 0 && !wanted.has(it.org))
            .sort((a, b) => a.usedAt - b.usedAt)
          for (const fanout of idle) {
            if (memory <= settings.rings_bytes) break
            memory -= fanout.ring?.memory ?? 0
            fanouts.delete(fanout.org)
            record(streamMetrics.ringEvictions, 1)
          }
        }
        record(streamMetrics.ringBytes, memory)
      }

      const tick = () => {
        const now = host.now()
        for (const stream of connections) if (!stream.tick(now)) connections.delete(stream)
        const { counts } = host
        record(streamMetrics.delivered, counts.delivered)
        record(streamMetrics.deliveredBytes, counts.bytes)
        record(streamMetrics.lagging, counts.lagging)
        counts.delivered = 0
        counts.bytes = 0
        let organization = 0
        for (const stream of streams) if (stream.access.project_id === null) organization += 1
        record(streamMetrics.streams("organization"), organization)
        record(streamMetrics.streams("project"), streams.size - organization)
        fitMemory()
      }
      const pause = Effect.sleep(Math.min(1_000, Math.max(5, millis.heartbeat / 10)))
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, Effect.sync(tick))))

      const revokeWhere = (concerned: (access: StreamAccess) => boolean) => {
        for (const admission of admissions) if (concerned(admission.access)) admission.revoke()
        for (const stream of streams) {
          if (!concerned(stream.access)) continue
          stream.pump() // events from before the revocation are still sent
          stream.end("revoked")
        }
      }

      yield* feed.subscribe({
        restart: (pos) => {
          delivered = pos
          for (const stream of streams) stream.end("log_reset")
          fanouts.clear()
        },
        deliver: (batch: ReadonlyArray<LoggedEvent>) => {
          const dirty = new Set<OrgFanout>()
          for (const event of batch) {
            delivered = event.pos
            const fanout = fanouts.get(event.org_id)
            fanout?.append(event)
            if (fanout !== undefined) dirty.add(fanout)
            const revocation = revocationOf(event)
            if (Option.isNone(revocation)) continue
            // A revocation of an unknown form ends every stream.
            revokeWhere((access) =>
              Option.match(revocation.value, { onNone: () => true, onSome: (it) => revokes(it, access) })
            )
          }
          for (const fanout of dirty) queue.add(fanout.streams)
        }
      })

      const admit = (options: StreamOptions): Result.Result<Admission, TooManyStreams> => {
        const { access, expires_at } = options
        const refused = limits.take(access, host.now())
        if (Option.isSome(refused)) return Result.fail(refused.value)
        let revoked = false
        const admission: Admission = {
          access,
          revoke: () => {
            revoked = true
          },
          cancel: () => {
            if (admissions.delete(admission)) limits.give(access)
          },
          attach: (ring, start, open) => {
            const fanout = fanouts.get(access.org_id)
            if (fanout?.ring !== ring) return Option.none()
            const expired = expires_at !== null && expires_at.epochMilliseconds <= host.now()
            const stream =
              revoked || expired // it shows nothing, not even the head's position
                ? new EventStream(host, ring, open(), { ...options, bookmarks: false }, { _tag: "Live" })
                : new EventStream(host, ring, open(), options, start)
            admissions.delete(admission)
            streams.add(stream)
            connections.add(stream)
            fanout.streams.add(stream)
            if (revoked) stream.end("revoked")
            stream.tick(host.now())
            stream.pump()
            return Option.some(stream)
          }
        }
        admissions.add(admission)
        return Result.succeed(admission)
      }

      const beginLoad = (org: OrgId) => {
        const fanout = new OrgFanout(host, org)
        fanouts.set(org, fanout)
        return {
          finish: (window: EventWindow) => {
            if (fanouts.get(org) !== fanout) return false
            fanout.load(window, delivered)
            return true
          },
          fail: () => {
            if (fanouts.get(org) === fanout) fanouts.delete(org)
          }
        }
      }

      return { streams, admit, beginLoad, ring: (org) => fanouts.get(org)?.ring }
    })
  )
}

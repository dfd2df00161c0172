/**
 * One organization's ring and the streams that read it (docs/design/events.md E25).
 *
 * New events mark it dirty, and one pass over all streams follows in a later turn of the event loop; a long pass yields
 * to others and resumes where it stopped. While the ring is being loaded from the log, events queue here and join it in
 * order.
 */
import { Option } from "effect"
import type { OrgId } from "../../Ids.ts"
import type { LoggedEvent } from "../Envelope.ts"
import { noEvent } from "../EventId.ts"
import type { EventWindow } from "../EventLog.ts"
import { EventRing } from "../ring/EventRing.ts"
import type { EventStream } from "./EventStream.ts"
import { FlushBudget } from "./FlushBudget.ts"
import type { StreamHost } from "./StreamHost.ts"
import { streamMetrics } from "./StreamMetrics.ts"

/** The broker, as its fan-outs see it. */
export interface FanoutOwner extends StreamHost {
  /** This organization's streams have something to send. */
  readonly enqueue: (fanout: OrgFanout) => void
}

export class OrgFanout {
  readonly org: OrgId
  readonly streams = new Set<EventStream>()
  /** When it last had a stream. */
  usedAt: number
  readonly #host: FanoutOwner
  #ring: EventRing | undefined
  #queue: Array<LoggedEvent> = []
  #dirty = false
  /** The pass that yielded, and the stream that it stopped at. */
  #pass: Iterator<EventStream> | undefined
  #current: EventStream | undefined
  /** Everything before this entry was offered to every stream. */
  #offered = 0
  #offering = 0

  constructor(host: FanoutOwner, org: OrgId) {
    this.#host = host
    this.org = org
    this.usedAt = host.scheduler.now()
  }

  /** `undefined` while it is being loaded. */
  get ring(): EventRing | undefined {
    return this.#ring
  }

  /**
   * Makes the ring from the log's window and the events delivered since. Rows beyond `delivered` wait for their
   * delivery, because a revocation before them has to act first.
   */
  load(window: EventWindow, delivered: number): EventRing {
    const { event_bytes, ring_bytes, ring_events } = this.#host.settings
    const limits = { events: ring_events, bytes: ring_bytes, event_bytes }
    const ring = new EventRing(
      limits,
      Option.getOrElse(window.floor, () => noEvent)
    )
    for (const event of window.events) if (event.pos <= delivered) ring.append(event)
    for (const event of this.#queue.splice(0)) ring.append(event)
    this.#ring = ring
    this.#offered = ring.end
    return ring
  }

  append(event: LoggedEvent) {
    const ring = this.#ring
    if (ring === undefined) {
      this.#queue.push(event)
      return
    }
    if (this.streams.size > 0 && this.#crowded(ring)) this.#flushAll(ring)
    if (ring.append(event)) this.offer()
  }

  /** Some stream has something to send. A running pass may be past it already, so another one follows. */
  offer() {
    this.#dirty = true
    this.#schedule()
  }

  #schedule() {
    if (this.streams.size > 0) this.#host.enqueue(this)
  }

  /** Whether half the ring waits for its pass: one more burst must not overrun readers that keep up. */
  #crowded(ring: EventRing): boolean {
    const { ring_bytes, ring_events } = this.#host.settings
    return (
      ring.end - this.#offered >= Math.max(1, Math.floor(ring_events / 2)) ||
      ring.bytesFrom(Math.max(this.#offered, ring.first)) > ring_bytes / 2
    )
  }

  #flushAll(ring: EventRing) {
    const budget = FlushBudget.unlimited(this.#host)
    for (const stream of this.streams) stream.pump(budget)
    this.#offered = ring.end
    this.#pass = undefined
    this.#current = undefined
    this.#dirty = false
    ring.releaseSlices()
  }

  /** Offers new events to every stream, or to as many as the budget allows; the rest waits for another turn. */
  flush(budget: FlushBudget) {
    const ring = this.#ring
    if (ring === undefined) return
    const { record, scheduler } = this.#host
    const begun = scheduler.now()
    if (this.#pass === undefined) {
      this.#pass = this.streams.values()
      this.#offering = ring.end
      this.#dirty = false
    }
    for (;;) {
      const next: EventStream | undefined = this.#current ?? this.#pass.next().value
      if (next === undefined) break
      next.pump(budget)
      this.#current = next.ready ? next : undefined
      if (budget.spent) {
        this.#schedule()
        return
      }
    }
    this.#pass = undefined
    this.#offered = this.#offering
    ring.releaseSlices()
    record(streamMetrics.flush, (scheduler.now() - begun) / 1_000)
    if (this.#dirty) this.#schedule()
  }
}

/**
 * One organization's ring and the streams that read it (docs/design/events.md E25).
 *
 * While the ring is being loaded from the log, events queue here and join it in order.
 */
import { Option } from "effect"
import type { OrgId } from "../../../Ids.ts"
import type { LoggedEvent } from "../../../records/events/Envelope.ts"
import { noEvent } from "../../../records/events/EventId.ts"
import type { EventWindow } from "../../../records/events/EventLog.ts"
import { EventRing } from "../ring/EventRing.ts"
import type { EventStream } from "./EventStream.ts"
import type { StreamHost } from "./StreamHost.ts"

export class OrgFanout {
  readonly org: OrgId
  readonly streams = new Set<EventStream>()
  /** When it last had a stream. */
  usedAt: number
  readonly #host: StreamHost
  #ring: EventRing | undefined
  #queue: Array<LoggedEvent> = []
  /** The end of the ring when `append` last served every stream. */
  #served = 0

  constructor(host: StreamHost, org: OrgId) {
    this.#host = host
    this.org = org
    this.usedAt = host.now()
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
    this.#served = ring.end
    return ring
  }

  /**
   * Streams are served by `FlushQueue`. After each half of a ring all are served here at once: a burst must not overrun
   * readers that keep up.
   */
  append(event: LoggedEvent) {
    const ring = this.#ring
    if (ring === undefined) {
      this.#queue.push(event)
      return
    }
    if (this.#halfFull(ring)) {
      for (const stream of this.streams) stream.pump()
      this.#served = ring.end
    }
    ring.append(event)
  }

  #halfFull(ring: EventRing): boolean {
    const { ring_bytes, ring_events } = this.#host.settings
    return (
      ring.end - this.#served >= Math.max(1, Math.floor(ring_events / 2)) ||
      ring.bytesFrom(Math.max(this.#served, ring.first)) > ring_bytes / 2
    )
  }
}

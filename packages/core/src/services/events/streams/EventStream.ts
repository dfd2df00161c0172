/**
 * One stream: a cursor into its organization's ring, and a connection (docs/design/events.md E24 step 6 to E33).
 *
 * A stream has no queue. While its socket is full, the cursor waits and costs no memory. When the cursor falls off the
 * ring, lags too far behind or is blocked for too long, the stream ends with the exact number of missed events.
 *
 * Pitfall: stopping before the stream has caught up or its socket is full. The rest would wait for the next event,
 * which may never come.
 */
import { resumeGapId } from "../../../records/events/EventId.ts"
import type { EventRing } from "../ring/EventRing.ts"
import type { RingFilter } from "../ring/RingFilter.ts"
import { bookmark, bytesOf, comment, overflowFrame, resumeGapFrame, retry } from "../ring/SseFrame.ts"
import type { Start } from "./Resume.ts"
import type { StreamAccess, StreamOptions } from "./StreamAccess.ts"
import { instant, type StreamHost } from "./StreamHost.ts"
import { type EndReason, streamMetrics } from "./StreamMetrics.ts"
import type { StreamSink } from "./StreamSink.ts"

/** The broker, as its streams see it. */
export interface StreamOwner extends StreamHost {
  /** The stream sends nothing more; its connection may still be flushing. */
  readonly ended: (stream: EventStream) => void
}

const none: ReadonlyArray<never> = []
/** The start of most streams, and their heartbeat: the same bytes for all. */
const greeting = bytesOf(comment("ok"))
const beat = bytesOf(comment(""))

export class EventStream {
  readonly access: StreamAccess
  readonly #host: StreamOwner
  readonly #ring: EventRing
  readonly #filter: RingFilter
  readonly #sink: StreamSink
  readonly #bookmarks: boolean
  readonly #deadline: { readonly at: number; readonly reason: "token_expired" | "max_age" }
  #cursor: number
  /** The number of events behind the cursor that pass the filter. */
  #passed: number
  /** The client has everything up to this position, even if the ring has not. */
  #least: string
  /** Whether the ring has not reached that position yet. */
  #ahead: boolean
  /** The bookmark that was sent last. */
  #bookmarked = ""
  #blockedSince: number | undefined
  #lastWrite: number
  /** After this time without a write, a heartbeat is due. */
  #patience: number
  #replaying = true
  #destroyAt = Number.POSITIVE_INFINITY
  #ended: EndReason | undefined
  #gone = false
  #onSettled: ReadonlyArray<() => void> = none
  #onGone: ReadonlyArray<(reason: EndReason) => void> = none

  constructor(host: StreamOwner, ring: EventRing, sink: StreamSink, options: StreamOptions, start: Start) {
    const { millis } = host
    const now = host.now()
    this.#host = host
    this.#ring = ring
    this.#sink = sink
    this.access = options.access
    this.#bookmarks = options.bookmarks
    this.#filter = ring.filter(options.access.project_id, options.types)
    const age = now + millis.max_age * (0.8 + 0.2 * host.random())
    const expiry = options.expires_at === null ? Number.POSITIVE_INFINITY : options.expires_at.epochMilliseconds
    this.#deadline =
      expiry - millis.expiry_margin < age
        ? { at: expiry - millis.expiry_margin, reason: "token_expired" }
        : { at: age, reason: "max_age" }
    this.#lastWrite = now
    this.#patience = this.#nextPatience
    this.#least = start._tag === "After" ? start.position : ring.lastId
    this.#ahead = this.#least > ring.lastId
    this.#cursor = start._tag === "After" ? ring.cursorAfter(start.position) : ring.end
    this.#passed = ring.total(this.#filter) - ring.remaining(this.#filter, this.#cursor)
    sink.onDrain(() => this.#drained())
    sink.onClose(() => this.#closed())
    this.#greet(start)
  }

  get ended(): EndReason | undefined {
    return this.#ended
  }

  /** Whether there are entries after the cursor that may be written now. */
  get #ready(): boolean {
    return this.#blockedSince === undefined && this.#cursor < this.#ring.end
  }

  /** Calls back once the replay is over: at the head, ended, or blocked for `replay_patience`. */
  onSettled(callback: () => void) {
    if (this.#replaying) this.#onSettled = [...this.#onSettled, callback]
    else callback()
  }

  /** Calls back once the connection is gone, with the reason of the end. */
  onGone(callback: (reason: EndReason) => void) {
    if (this.#gone) callback(this.#ended ?? "client_gone")
    else this.#onGone = [...this.#onGone, callback]
  }

  /** Writes until caught up or blocked. */
  pump() {
    if (this.#ended !== undefined) return
    const now = this.#host.now()
    // Timers stop while the machine sleeps: an event may arrive before the overdue timer.
    if (now >= this.#deadline.at) return this.end(this.#deadline.reason)
    if (this.#ahead) this.#skip()
    if (this.#tooFarBehind()) return this.overflow()
    while (this.#ready) {
      const slice = this.#ring.read(this.#cursor, this.#filter, this.#host.settings.slice_bytes)
      this.#cursor = slice.to
      if (slice.bytes === undefined) continue
      this.#passed += slice.events
      this.#host.counts.delivered += slice.events
      this.#write(slice.bytes, now)
    }
    if (this.#cursor === this.#ring.end) this.#settle()
  }

  /** Checks its timers. `false`: the connection is gone, and there is nothing more to check. */
  tick(now: number): boolean {
    if (this.#ended === undefined) this.#tickLive(now)
    else if (!this.#gone && now >= this.#destroyAt) {
      this.#sink.destroy()
      this.#closed()
    }
    return !this.#gone
  }

  /** Ends the stream of a slow client. Safe if the frame never arrives: the client resumes after its last id. */
  overflow() {
    if (this.#ended !== undefined) return
    const dropped = this.#ring.total(this.#filter) - this.#passed
    this.#write(overflowFrame(this.#scope, instant(this.#host), dropped, this.#ring.lastId))
    this.#host.record(streamMetrics.overflows, 1)
    this.#host.record(streamMetrics.dropped, dropped)
    this.#finish("overflow")
  }

  /** Ends it from this side. `retryMillis`: when the client should reconnect. */
  end(reason: EndReason, retryMillis?: number) {
    if (this.#ended !== undefined) return
    const closing = comment(`closing reason=${reason}`)
    const text = this.#bookmarks ? `${this.#mark}${retry(retryMillis ?? this.#retryMillis)}` : ""
    this.#write(bytesOf(text + closing))
    this.#finish(reason)
  }

  get #scope() {
    return { ...this.access, region_id: this.#host.region_id }
  }

  get #retryMillis(): number {
    return 1_000 + 2_000 * this.#host.random()
  }

  /** The position that a client at this cursor resumes after. */
  get #position(): string {
    const passed = this.#ring.idBefore(this.#cursor)
    return passed > this.#least ? passed : this.#least
  }

  /** Empty without bookmarks, and if events behind the position were evicted: a resume would hide their loss. */
  get #mark(): string {
    return !this.#bookmarks || this.#cursor < this.#ring.first ? "" : bookmark(this.#position)
  }

  #greet(start: Start) {
    const { record } = this.#host
    const opening = comment("ok") + (this.#bookmarks ? retry(this.#retryMillis) : "")
    if (start._tag === "Gap") {
      const latest_id = this.#ring.lastId
      const oldest_id = this.#ring.oldest(this.#filter)
      const gap = { reason: start.reason, last_event_id: start.last_event_id, oldest_id, latest_id }
      this.#write(bytesOf(opening))
      this.#write(resumeGapFrame(this.#scope, instant(this.#host), gap))
      this.#least = resumeGapId(latest_id)
      record(streamMetrics.gaps(start.reason), 1)
    } else this.#write(this.#bookmarks ? bytesOf(opening + bookmark(this.#position)) : greeting)
    this.#bookmarked = this.#mark
    const waiting = this.#ring.remaining(this.#filter, this.#cursor)
    record(streamMetrics.replayed, waiting)
    record(streamMetrics.opened(start._tag === "Gap" ? "gap" : start._tag === "After" ? "replay" : "none"), 1)
  }

  /** Moves the cursor over events that the client has already. */
  #skip() {
    this.#ahead = this.#least > this.#ring.lastId
    this.#cursor = Math.max(this.#cursor, this.#ring.cursorAfter(this.#least))
    this.#passed = this.#ring.total(this.#filter) - this.#ring.remaining(this.#filter, this.#cursor)
  }

  #tooFarBehind(): boolean {
    if (this.#cursor < this.#ring.first) return true
    if (this.#blockedSince === undefined) return false
    const { max_lag_bytes, max_lag_events } = this.#host.settings
    return (
      (max_lag_events !== "ring" && this.#ring.end - this.#cursor > max_lag_events) ||
      (max_lag_bytes !== "ring" && this.#ring.bytesFrom(this.#cursor) > max_lag_bytes)
    )
  }

  #tickLive(now: number) {
    const { replay_patience, stall } = this.#host.millis
    if (now >= this.#deadline.at) this.end(this.#deadline.reason)
    else if (this.#blockedSince === undefined) {
      if (now >= this.#lastWrite + this.#patience) this.#beat(now)
    } else if (now >= this.#blockedSince + stall) this.overflow()
    else if (now >= this.#blockedSince + replay_patience) this.#settle()
  }

  #beat(now: number) {
    const mark = this.#mark
    this.#write(mark === this.#bookmarked ? beat : bytesOf(comment("") + mark), now)
    this.#bookmarked = mark
    this.#patience = this.#nextPatience
  }

  get #nextPatience(): number {
    return this.#host.millis.heartbeat * (0.8 + 0.4 * this.#host.random())
  }

  #write(bytes: Uint8Array, now = this.#host.now()) {
    const { counts } = this.#host
    this.#lastWrite = now
    counts.bytes += bytes.length
    if (this.#sink.write(bytes) || this.#blockedSince !== undefined) return
    this.#blockedSince = this.#lastWrite
    counts.lagging += 1
  }

  #drained() {
    this.#unblock()
    this.pump()
  }

  #unblock() {
    if (this.#blockedSince === undefined) return
    this.#blockedSince = undefined
    this.#host.counts.lagging -= 1
  }

  #settle() {
    if (!this.#replaying) return
    this.#replaying = false
    const waiting = this.#onSettled
    this.#onSettled = none
    for (const callback of waiting) callback()
  }

  #finish(reason: EndReason) {
    this.#ended = reason
    this.#sink.end()
    this.#destroyAt = this.#host.now() + this.#host.millis.linger
    this.#over(reason)
  }

  #over(reason: EndReason) {
    this.#unblock()
    this.#settle()
    this.#ring.release(this.#filter)
    this.#host.record(streamMetrics.closed(reason), 1)
    this.#host.ended(this)
  }

  #closed() {
    if (this.#gone) return
    this.#gone = true
    if (this.#ended === undefined) {
      this.#ended = "client_gone"
      this.#over("client_gone")
    }
    const waiting = this.#onGone
    this.#onGone = none
    for (const callback of waiting) callback(this.#ended)
  }
}

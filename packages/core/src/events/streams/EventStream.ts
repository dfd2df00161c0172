/**
 * One stream: a cursor into its organization's ring, and a connection (docs/design/events.md E24 step 6 to E33).
 *
 * It has no queue. While its socket is full the cursor waits and costs no memory. When the cursor falls off the ring,
 * lags too far behind or is blocked for too long, the stream ends with the exact number of missed events.
 *
 * Pitfall: stopping before the stream has caught up or its socket is full. The rest would wait for the next event,
 * which may never come.
 */
import { resumeGapId } from "../EventId.ts"
import type { EventRing } from "../ring/EventRing.ts"
import type { RingFilter } from "../ring/RingFilter.ts"
import { bookmark, bytesOf, comment, overflowFrame, resumeGapFrame, retry } from "../ring/SseFrame.ts"
import type { FlushBudget } from "./FlushBudget.ts"
import type { Start } from "./Resume.ts"
import type { StreamAccess, StreamOptions } from "./StreamAccess.ts"
import { instant, type StreamHost } from "./StreamHost.ts"
import { type EndReason, streamMetrics } from "./StreamMetrics.ts"
import type { StreamSink } from "./StreamSink.ts"

/** The broker, as its streams see it. */
export interface StreamOwner extends StreamHost {
  /** The stream's connection has room again. */
  readonly drained: (stream: EventStream) => void
  /** The stream sends nothing more; its connection may still be flushing. */
  readonly ended: (stream: EventStream) => void
  /** Asks for a `tick` of the stream at this time. */
  readonly remind: (stream: EventStream, at: number) => void
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
  /** Of all events that pass the filter, how many the cursor has passed. */
  #passed: number
  /** The client has everything up to this position, even if the ring has not. */
  #least: string
  /** Whether the ring has not reached that position yet. */
  #ahead: boolean
  #bookmarked = -1
  #blockedSince: number | undefined
  #lastWrite: number
  #beatAt: number
  #replaying = true
  #destroyAt = Number.POSITIVE_INFINITY
  #ended: EndReason | undefined
  #gone = false
  #onSettled: ReadonlyArray<() => void> = none
  #onGone: ReadonlyArray<(reason: EndReason) => void> = none

  constructor(host: StreamOwner, ring: EventRing, sink: StreamSink, options: StreamOptions, start: Start) {
    const { millis, scheduler } = host
    const now = scheduler.now()
    this.#host = host
    this.#ring = ring
    this.#sink = sink
    this.access = options.access
    this.#bookmarks = options.bookmarks
    this.#filter = ring.filter(options.access.project_id, options.types)
    const age = now + millis.max_age * (0.8 + 0.2 * scheduler.random())
    const expiry = options.expires_at === null ? Number.POSITIVE_INFINITY : options.expires_at.epochMilliseconds
    this.#deadline =
      expiry - millis.expiry_margin < age
        ? { at: expiry - millis.expiry_margin, reason: "token_expired" }
        : { at: age, reason: "max_age" }
    this.#lastWrite = now
    this.#beatAt = this.#nextBeat(now)
    this.#least = start._tag === "After" ? start.position : ring.lastId
    this.#ahead = this.#least > ring.lastId
    this.#cursor = start._tag === "After" ? ring.cursorAfter(start.position) : ring.end
    this.#passed = ring.total(this.#filter) - ring.remaining(this.#filter, this.#cursor)
    sink.onDrain(() => this.#drained())
    sink.onClose(() => this.#closed())
    this.#greet(start)
    host.remind(this, this.#due(now))
  }

  get ended(): EndReason | undefined {
    return this.#ended
  }

  /** Whether there are entries after the cursor that may be written now. */
  get ready(): boolean {
    return this.#ended === undefined && this.#blockedSince === undefined && this.#cursor < this.#ring.end
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

  /** Writes until caught up, blocked, or out of budget. */
  pump(budget: FlushBudget) {
    if (this.#ended !== undefined) return
    // Timers stop while the machine sleeps: an event may arrive before the overdue timer.
    if (budget.now >= this.#deadline.at) return this.end(this.#deadline.reason)
    if (this.#ahead) this.#skip()
    if (this.#tooFarBehind()) return this.overflow()
    while (this.ready && !budget.spent) {
      const slice = this.#ring.read(this.#cursor, this.#filter, this.#host.settings.slice_bytes)
      this.#cursor = slice.to
      if (slice.bytes === undefined) continue
      this.#passed += slice.events
      this.#host.counts.delivered += slice.events
      this.#write(slice.bytes, budget.now)
      budget.wrote()
    }
    if (this.#cursor === this.#ring.end) this.#settle()
  }

  /** Checks its timers. Returns when to check again, `undefined` for never. */
  tick(now: number): number | undefined {
    if (this.#gone) return undefined
    if (this.#ended !== undefined) {
      if (now < this.#destroyAt) return this.#destroyAt
      this.#sink.destroy()
      this.#closed()
      return undefined
    }
    const blocked = this.#blockedSince === undefined ? 0 : now - this.#blockedSince
    if (now >= this.#deadline.at) this.end(this.#deadline.reason)
    else if (this.#blockedSince !== undefined && blocked >= this.#host.millis.stall) this.overflow()
    else if (this.#blockedSince !== undefined && blocked >= this.#host.millis.replay_patience) this.#settle()
    else if (this.#blockedSince === undefined && now >= this.#beatAt) this.#beat(now)
    return this.#due(now)
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
    return 1_000 + 2_000 * this.#host.scheduler.random()
  }

  /** The position that a client at this cursor resumes after. */
  get #position(): string {
    const passed = this.#ring.idBefore(this.#cursor)
    return passed > this.#least ? passed : this.#least
  }

  /** A bookmark of the position. Empty if events behind it were evicted: a resume from there would hide their loss. */
  get #mark(): string {
    return this.#cursor < this.#ring.first ? "" : bookmark(this.#position)
  }

  #greet(start: Start) {
    const { record, scheduler } = this.#host
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
    this.#bookmarked = this.#cursor
    this.#lastWrite = scheduler.now()
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

  #beat(now: number) {
    const moved = this.#bookmarks && this.#bookmarked !== this.#cursor
    this.#bookmarked = this.#cursor
    this.#write(moved ? bytesOf(comment("") + this.#mark) : beat)
    this.#beatAt = this.#nextBeat(now)
  }

  #nextBeat(from: number): number {
    return from + this.#host.millis.heartbeat * (0.8 + 0.4 * this.#host.scheduler.random())
  }

  #due(now: number): number {
    const { replay_patience, stall } = this.#host.millis
    if (this.#ended !== undefined) return this.#destroyAt
    const patience = this.#replaying ? Math.min(replay_patience, stall) : stall
    if (this.#blockedSince !== undefined) return Math.min(this.#deadline.at, this.#blockedSince + patience)
    if (this.#lastWrite + this.#host.millis.heartbeat * 0.8 > this.#beatAt)
      this.#beatAt = this.#nextBeat(this.#lastWrite)
    return Math.min(this.#deadline.at, this.#beatAt, now + patience)
  }

  #write(bytes: Uint8Array, now = this.#host.scheduler.now()) {
    const { counts } = this.#host
    this.#lastWrite = now
    counts.bytes += bytes.length
    if (this.#sink.write(bytes) || this.#blockedSince !== undefined) return
    this.#blockedSince = this.#lastWrite
    counts.lagging += 1
  }

  #drained() {
    this.#unblock()
    this.#host.drained(this)
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
    this.#destroyAt = this.#host.scheduler.now() + this.#host.millis.linger
    this.#over(reason)
    this.#host.remind(this, this.#destroyAt)
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

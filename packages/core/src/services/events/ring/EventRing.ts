/**
 * The newest events of one organization, encoded once and kept as bytes (docs/design/events.md E21–E23). Pure: no
 * clock, no I/O.
 *
 * The ring is a cache of the durable log. It keeps the longest run of newest events within its two limits, so every
 * instance with the same limits gives the same answers. Internal events have no entry: they only move the newest id.
 *
 * Entries are counted from the creation of the ring, a cursor is the number of the next entry to read, and an id is a
 * position among them.
 */
import type { ProjectId } from "../../../Ids.ts"
import type { LoggedEvent } from "../../../records/events/Envelope.ts"
import { eventIdToBytes } from "../../../records/events/EventId.ts"
import { anyProject, brokerType, RingFilter, type RingSlice } from "./RingFilter.ts"
import { noProject, RingSegment } from "./RingSegment.ts"
import { encodeEvent } from "./SseFrame.ts"

const firstSegment = 16 * 1024
const laterSegment = 64 * 1024

export interface RingLimits {
  readonly events: number
  readonly bytes: number
  readonly event_bytes: number
}

export class EventRing {
  /** The newest id that was not in the ring when it was made. */
  readonly floor: string
  #first = 0
  #end = 0
  #lastId: string
  #evictedId: string
  #bytes = 0
  #memory = 0
  readonly #limits: RingLimits
  #segments: Array<RingSegment> = []
  readonly #projects = new Map<ProjectId, number>()
  readonly #types = new Map<string, number>()
  readonly #typeNames: Array<string> = []
  readonly #filters = new Map<string, RingFilter>()
  /** How many events of a project and type ever were in the ring. */
  readonly #totals = new Map<number, Map<number, number>>()
  /** The newest evicted event of each project; under `anyProject`, of all. */
  readonly #evicted = new Map<number, string>()
  /** The frame of `error.v1` for a project's streams, by entry. */
  readonly #projectFrames = new Map<number, Uint8Array>()

  constructor(limits: RingLimits, floor: string) {
    this.#limits = limits
    this.floor = floor
    this.#lastId = floor
    this.#evictedId = floor
  }

  /** The oldest entry, and one past the newest. */
  get first(): number {
    return this.#first
  }

  get end(): number {
    return this.#end
  }

  /** The organization's newest id; without events, the floor. */
  get lastId(): string {
    return this.#lastId
  }

  /** The newest id of an event that is no longer in the ring; before that, the floor. */
  get evictedId(): string {
    return this.#evictedId
  }

  /** Bytes of memory, unused space included. */
  get memory(): number {
    return this.#memory
  }

  /**
   * Appends the next event, and evicts what exceeds the limits. `false`: there is no new entry, because the event is
   * internal, or not newer than the last.
   */
  append(event: LoggedEvent): boolean {
    if (event.id <= this.#lastId) return false
    this.#lastId = event.id
    if (event.internal) return false
    // Shared slices end before it, and would keep evicted segments in memory.
    for (const filter of this.#filters.values()) filter.last = undefined
    const encoded = encodeEvent(event, this.#limits.event_bytes)
    const project = event.project_id === null ? noProject : this.#projectNumber(event.project_id)
    const type = this.#typeNumber(encoded._tag === "Poison" ? brokerType : event.type)
    const frame = encoded._tag === "Poison" ? encoded.org : encoded.bytes
    if (encoded._tag === "Poison" && encoded.project !== undefined) this.#projectFrames.set(this.#end, encoded.project)
    this.#segmentFor(frame.length).add(eventIdToBytes(event.id), project, type, frame)
    this.#bytes += frame.length
    this.#end += 1
    const types = this.#totals.get(project) ?? new Map<number, number>()
    this.#totals.set(project, types.set(type, (types.get(type) ?? 0) + 1))
    while (this.#end - this.#first > this.#limits.events || this.#bytes > this.#limits.bytes) this.#evict()
    return true
  }

  /** The filter for this scope and these types (none: all), until it is released. */
  filter(project: ProjectId | null, types: ReadonlyArray<string>): RingFilter {
    const key = JSON.stringify([project, [...types].sort()])
    const number = project === null ? anyProject : this.#projectNumber(project)
    const filter = this.#filters.get(key) ?? new RingFilter(key, number, types, this.#typeNames)
    filter.users += 1
    this.#filters.set(key, filter)
    return filter
  }

  release(filter: RingFilter) {
    filter.users -= 1
    if (filter.users === 0) this.#filters.delete(filter.key)
  }

  /** The cursor behind a position: the first entry with a greater id. */
  cursorAfter(position: string): number {
    const bytes = eventIdToBytes(position)
    let low = this.#first
    let high = this.#end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#at(middle).isAfter(middle, bytes)) high = middle
      else low = middle + 1
    }
    return low
  }

  /** The newest id before a cursor. */
  idBefore(cursor: number): string {
    if (cursor === this.#end) return this.#lastId
    return cursor <= this.#first ? this.#evictedId : this.#at(cursor - 1).id(cursor - 1)
  }

  /** The id of the oldest entry that passes the filter. */
  oldest(filter: RingFilter): string | null {
    for (let entry = this.#first; entry < this.#end; entry++) {
      const segment = this.#at(entry)
      if (filter.passes(segment.project(entry), segment.type(entry))) return segment.id(entry)
    }
    return null
  }

  /** Whether an event of the scope after this position has left the ring. */
  lostAfter(project: ProjectId | null, position: string): boolean {
    const number = project === null ? anyProject : this.#projects.get(project)
    const evicted = number === undefined ? undefined : this.#evicted.get(number)
    return evicted !== undefined && evicted > position
  }

  /**
   * Whether `lostAfter` knows all events of the scope after this position. Events up to the floor never were in the
   * ring: only the log has them.
   */
  knowsLossAfter(project: ProjectId | null, position: string): boolean {
    return position >= this.floor || this.lostAfter(project, position)
  }

  /** How many events that pass were ever in the ring. A stream compares it with the number that it has sent. */
  total(filter: RingFilter): number {
    let total = 0
    for (const [project, types] of this.#totals)
      for (const [type, count] of types) if (filter.passes(project, type)) total += count
    return total
  }

  /** How many events that pass are in the ring from a cursor on. */
  remaining(filter: RingFilter, cursor: number): number {
    let remaining = 0
    for (let entry = Math.max(cursor, this.#first); entry < this.#end; entry++) {
      const segment = this.#at(entry)
      if (filter.passes(segment.project(entry), segment.type(entry))) remaining += 1
    }
    return remaining
  }

  /** Bytes of a replay behind this position, of all scopes. */
  bytesAfter(position: string): number {
    return this.bytesFrom(this.cursorAfter(position))
  }

  /** Bytes from a cursor to the end, of all scopes. */
  bytesFrom(cursor: number): number {
    if (cursor >= this.#end) return 0
    const segment = this.#at(cursor)
    const last = this.#segments.at(-1) ?? segment
    return last.offset(this.#end) - segment.offset(cursor)
  }

  /** The next entries that pass, as one write of at most `limit` bytes (but at least one event). */
  read(from: number, filter: RingFilter, limit: number): RingSlice {
    if (filter.last?.from === from) return filter.last.slice
    const slice = filter.whole ? this.#run(from, limit) : this.#picked(from, filter, limit)
    filter.last = { from, slice }
    return slice
  }

  /** Adjacent entries: their bytes are shared, not copied. */
  #run(from: number, limit: number): RingSlice {
    const segment = this.#at(from)
    const start = segment.start(from)
    let to = from + 1
    while (to < segment.end && segment.start(to + 1) - start <= limit) to += 1
    const bytes = segment.bytes.subarray(start, segment.start(to))
    return { to, events: to - from, bytes }
  }

  #picked(from: number, filter: RingFilter, limit: number): RingSlice {
    const parts: Array<Uint8Array> = []
    let length = 0
    let to = from
    for (; to < this.#end; to++) {
      const segment = this.#at(to)
      if (!filter.passes(segment.project(to), segment.type(to))) continue
      const projectFrame = filter.project === anyProject ? undefined : this.#projectFrames.get(to)
      const part = projectFrame ?? segment.bytes.subarray(segment.start(to), segment.start(to + 1))
      if (parts.length > 0 && length + part.length > limit) break
      parts.push(part)
      length += part.length
    }
    if (parts.length === 0) return { to, events: 0, bytes: undefined }
    const bytes = new Uint8Array(length)
    let at = 0
    for (const part of parts) {
      bytes.set(part, at)
      at += part.length
    }
    return { to, events: parts.length, bytes }
  }

  #evict() {
    const entry = this.#first
    const segment = this.#at(entry)
    const id = segment.id(entry)
    this.#bytes -= segment.start(entry + 1) - segment.start(entry)
    this.#evictedId = id
    this.#evicted.set(anyProject, id)
    if (segment.project(entry) !== noProject) this.#evicted.set(segment.project(entry), id)
    this.#projectFrames.delete(entry)
    this.#first += 1
    const oldest = this.#segments[0]
    if (oldest !== undefined && this.#segments.length > 1 && oldest.end <= this.#first) {
      this.#segments.shift()
      this.#memory -= oldest.memory
    }
  }

  #segmentFor(length: number): RingSegment {
    const last = this.#segments.at(-1)
    if (last?.takes(length)) return last
    const size = Math.max(length, last === undefined ? firstSegment : laterSegment)
    const made = new RingSegment(this.#end, size, last === undefined ? 0 : last.offset(this.#end))
    this.#segments.push(made)
    this.#memory += made.memory
    return made
  }

  /** The segment of an entry that is in the ring. */
  #at(entry: number): RingSegment {
    let low = 0
    let high = this.#segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((this.#segments[middle]?.first ?? 0) <= entry) low = middle
      else high = middle - 1
    }
    const segment = this.#segments[low]
    if (segment === undefined) throw new RangeError(`Entry ${entry} is not in the ring.`)
    return segment
  }

  #projectNumber(project: ProjectId): number {
    const number = this.#projects.get(project) ?? this.#projects.size
    this.#projects.set(project, number)
    return number
  }

  #typeNumber(type: string): number {
    const number = this.#types.get(type) ?? this.#typeNames.push(type) - 1
    this.#types.set(type, number)
    return number
  }
}

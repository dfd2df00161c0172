/**
 * A part of a ring: the frames of up to 256 events in one run of bytes, with id, project and type of each
 * (docs/design/events.md E22).
 *
 * Bytes are written once and never overwritten: a socket may still hold them for a pending write. A segment is released
 * as a whole, when its last entry has left the ring.
 */
import { eventIdFromBytes } from "../../../records/events/EventId.ts"

const capacity = 256

/** The project number of an event of the whole organization. */
export const noProject = -1

export class RingSegment {
  /** The number of its first entry, counted over the whole ring. */
  readonly first: number
  readonly bytes: Uint8Array
  count = 0
  #used = 0
  readonly #offset: number
  readonly #ends = new Uint32Array(capacity)
  readonly #ids = new Uint8Array(16 * capacity)
  readonly #projects = new Int32Array(capacity)
  readonly #types = new Int32Array(capacity)

  /** `offset`: the ring's bytes before this segment. */
  constructor(first: number, size: number, offset: number) {
    this.first = first
    this.bytes = new Uint8Array(size)
    this.#offset = offset
  }

  get end(): number {
    return this.first + this.count
  }

  get memory(): number {
    return this.bytes.length + capacity * (4 + 16 + 4 + 4)
  }

  takes(length: number): boolean {
    return this.count < capacity && this.#used + length <= this.bytes.length
  }

  add(id: Uint8Array, project: number, type: number, frame: Uint8Array) {
    const at = this.count
    this.bytes.set(frame, this.#used)
    this.#used += frame.length
    this.#ends[at] = this.#used
    this.#ids.set(id, 16 * at)
    this.#projects[at] = project
    this.#types[at] = type
    this.count += 1
  }

  /** Where the frame of an entry starts in `bytes`; for `end`, where the last one ends. */
  start(entry: number): number {
    return entry === this.first ? 0 : (this.#ends[entry - this.first - 1] ?? 0)
  }

  /** Bytes of the ring before an entry. */
  offset(entry: number): number {
    return this.#offset + this.start(entry)
  }

  project(entry: number): number {
    return this.#projects[entry - this.first] ?? noProject
  }

  type(entry: number): number {
    return this.#types[entry - this.first] ?? 0
  }

  id(entry: number): string {
    return eventIdFromBytes(this.#ids, 16 * (entry - this.first))
  }

  /** Whether the id of an entry is greater than these 16 bytes. */
  isAfter(entry: number, id: Uint8Array): boolean {
    const base = 16 * (entry - this.first)
    for (let at = 0; at < 16; at++) {
      const difference = (this.#ids[base + at] ?? 0) - (id[at] ?? 0)
      if (difference !== 0) return difference > 0
    }
    return false
  }
}

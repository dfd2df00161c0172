/**
 * One connection of a simulated world: what the broker writes waits here until the client reads it. A client may
 * stop reading, and a connection may break at any byte.
 */
import type { StreamSink } from "../../../src/services/events/streams/StreamSink.ts"
import type { SimLoop } from "./SimLoop.ts"

export interface SinkReader {
  readonly receives: (bytes: Uint8Array) => void
  /** The server has ended the stream, and everything of it was read. */
  readonly finishes: () => void
}

export class SimSink implements StreamSink {
  readonly openedAt: number
  readonly #expiresAt: number
  /** When it last had something to write, or room to. */
  movedAt: number
  /** When the broker ended it. */
  endedAt = Number.POSITIVE_INFINITY
  readonly #loop: SimLoop
  readonly #highWater: number
  readonly #reader: SinkReader
  /** Whether a reader that keeps up is never dropped. */
  readonly #roomy: boolean
  #waiting: Array<Uint8Array> = []
  #size = 0
  #full = false
  /** The bytes written while the sink was full: only a closing frame is allowed then. */
  #last: Uint8Array | undefined
  #ending = false
  #closed = false
  #drain: () => void = () => undefined
  #close: () => void = () => undefined

  constructor(loop: SimLoop, expiresAt: number, roomy: boolean, reader: SinkReader) {
    this.#loop = loop
    this.#expiresAt = expiresAt
    this.#highWater = 200 + loop.below(2_000)
    this.#reader = reader
    this.#roomy = roomy
    this.openedAt = loop.now
    this.movedAt = loop.now
  }

  readonly write = (bytes: Uint8Array) => {
    if (this.#ending) this.#loop.blame("Nothing is written behind the end.")
    if (this.#loop.now > this.#expiresAt && tells(bytes, "data: "))
      this.#loop.blame("Nothing is shown to an expired credential.")
    if (this.#closed) return true
    if (this.#last !== undefined) this.#loop.blame("Only a closing frame is written to a full connection.")
    if (this.#full) this.#last = bytes
    else if (this.#roomy && tells(bytes, "event: overflow.v1"))
      this.#loop.blame("A reader that keeps up is not dropped.")
    this.#waiting.push(bytes)
    this.#size += bytes.length
    this.#full ||= this.#size >= this.#highWater
    this.movedAt = this.#loop.now
    return !this.#full
  }

  readonly end = () => {
    this.#ending = true
    this.endedAt = this.#loop.now
    if (this.#size === 0) this.#finish()
  }

  /** From the broker, or because the connection breaks. */
  readonly destroy = () => {
    this.#waiting = []
    this.#size = 0
    this.#gone()
  }

  readonly onDrain = (callback: () => void) => {
    this.#drain = callback
  }

  readonly onClose = (callback: () => void) => {
    if (this.#closed) this.#loop.soon(callback)
    else this.#close = callback
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Whether the stream is still open. */
  get open(): boolean {
    return !this.#ending && !this.#closed
  }

  get full(): boolean {
    return this.#full
  }

  /** The client takes up to this many bytes. */
  read(limit: number) {
    let left = limit
    while (left > 0 && !this.#closed) {
      const [bytes] = this.#waiting
      if (bytes === undefined) break
      const taken = bytes.subarray(0, left)
      if (taken.length < bytes.length) this.#waiting[0] = bytes.subarray(taken.length)
      else this.#waiting.shift()
      left -= taken.length
      this.#size -= taken.length
      this.#reader.receives(taken)
    }
    if (this.#size > 0 || this.#closed) return
    if (this.#ending) this.#finish()
    else if (this.#full) {
      if (this.#last !== undefined) this.#loop.blame("A full connection is not written to.")
      this.#full = false
      this.movedAt = this.#loop.now
      this.#loop.soon(this.#drain)
    }
  }

  #finish() {
    if (this.#closed) return
    this.#reader.finishes()
    this.#gone()
  }

  #gone() {
    if (this.#closed) return
    this.#closed = true
    this.#loop.soon(this.#close)
  }
}

const tells = ({ buffer, byteOffset, length }: Uint8Array, text: string) =>
  Buffer.from(buffer, byteOffset, length).includes(text)

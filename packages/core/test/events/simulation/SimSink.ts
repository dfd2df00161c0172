/**
 * One connection of a simulated world: what the broker writes waits here until the client reads it. A client may
 * stop reading, and a connection may break at any byte.
 */
import type { SseBytes } from "../../../src/events/SseBytes.ts"
import type { StreamSink } from "../../../src/events/StreamPorts.ts"
import type { SimLoop } from "./SimLoop.ts"

export class SimSink implements StreamSink {
  readonly #loop: SimLoop
  readonly #highWater: number
  readonly #received: (bytes: Uint8Array) => void
  #waiting: Array<Uint8Array> = []
  #full = false
  #ending = false
  #closed = false
  #drains: Array<() => void> = []
  #closes: Array<() => void> = []
  largestWrite = 0

  constructor(loop: SimLoop, highWater: number, received: (bytes: Uint8Array) => void) {
    this.#loop = loop
    this.#highWater = highWater
    this.#received = received
  }

  readonly write = (bytes: SseBytes) => {
    if (this.#ending) throw new Error("The broker wrote behind the end.")
    if (this.#closed) return true
    this.largestWrite = Math.max(this.largestWrite, bytes.chunked.length)
    this.#waiting.push(bytes.payload)
    this.#full = this.buffered() >= this.#highWater
    return !this.#full
  }

  readonly buffered = () => this.#waiting.reduce((sum, bytes) => sum + bytes.length, 0)

  readonly end = () => {
    this.#ending = true
    if (this.buffered() === 0) this.#close()
  }

  readonly destroy = () => {
    this.#waiting = []
    this.#close()
  }

  readonly onDrain = (callback: () => void) => {
    this.#drains.push(callback)
  }

  readonly onClose = (callback: () => void) => {
    if (this.#closed) this.#loop.soon(callback)
    else this.#closes.push(callback)
  }

  get closed(): boolean {
    return this.#closed
  }

  /** The client takes up to this many bytes. */
  read(limit: number) {
    let left = limit
    while (left > 0 && !this.#closed) {
      const bytes = this.#waiting.shift()
      if (bytes === undefined) break
      const taken = bytes.subarray(0, left)
      if (taken.length < bytes.length) this.#waiting.unshift(bytes.subarray(taken.length))
      left -= taken.length
      this.#received(taken)
    }
    if (this.buffered() > 0) return
    if (this.#ending) this.#close()
    else if (this.#full) {
      this.#full = false
      this.#loop.soon(() => {
        for (const callback of this.#drains) callback()
      })
    }
  }

  /** The connection breaks. */
  cut() {
    this.destroy()
  }

  #close() {
    if (this.#closed) return
    this.#closed = true
    this.#loop.soon(() => {
      for (const callback of this.#closes.splice(0)) callback()
    })
  }
}

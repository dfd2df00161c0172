/** A client of an event stream in a simulation: it keeps what it receives, and reads only while it is not paused. */
import type { Effect } from "effect"
import type { EndReason } from "../../src/services/events/streams/StreamMetrics.ts"
import type { StreamSink } from "../../src/services/events/streams/StreamSink.ts"

/** An event as a client receives it. Gaps and overflows are events too: `resume.gap.v1`, `overflow.v1`. */
export interface ReceivedEvent {
  readonly id: string
  readonly type: string
  readonly org_id: string
  readonly project_id?: string
  readonly at: string
  readonly data: Readonly<Record<string, unknown>>
}

/** The connection. Bytes that are written while the client does not read wait here. */
export class SimulatedConnection implements StreamSink {
  readonly received: Array<ReceivedEvent> = []
  /** The reason that the server gave for the end of the stream. */
  closing: string | undefined
  #paused = false
  #waiting: Array<Uint8Array> = []
  #size = 0
  #text = ""
  #ending = false
  #closed = false
  #drain: () => void = () => undefined
  #close: () => void = () => undefined
  readonly #buffer: number
  readonly #soon: (task: () => void) => void
  readonly #decoder = new TextDecoder()

  constructor(buffer: number, soon: (task: () => void) => void) {
    this.#buffer = buffer
    this.#soon = soon
  }

  readonly write = (bytes: Uint8Array) => {
    if (this.#closed) return true
    this.#waiting.push(bytes)
    this.#size += bytes.length
    if (!this.#paused) this.#read()
    return this.#size < this.#buffer
  }

  readonly end = () => {
    this.#ending = true
    if (this.#waiting.length === 0) this.destroy()
  }

  readonly destroy = () => {
    if (this.#closed) return
    this.#closed = true
    this.#waiting = []
    this.#soon(this.#close)
  }

  readonly onDrain = (callback: () => void) => {
    this.#drain = callback
  }

  readonly onClose = (callback: () => void) => {
    if (this.#closed) this.#soon(callback)
    else this.#close = callback
  }

  pause() {
    this.#paused = true
  }

  resume() {
    this.#paused = false
    const full = this.#size >= this.#buffer
    this.#read()
    if (this.#ending) this.destroy()
    else if (full) this.#soon(this.#drain)
  }

  #read() {
    for (const bytes of this.#waiting) this.#text += this.#decoder.decode(bytes, { stream: true })
    this.#waiting = []
    this.#size = 0
    const lines = this.#text.split("\n")
    this.#text = lines.pop() ?? ""
    // Frames of events have one line of data. The comment at the end has no empty line after it.
    for (const line of lines) {
      if (line.startsWith("data: ")) this.received.push(JSON.parse(line.slice(6)))
      if (line.startsWith(": closing reason=")) this.closing = line.slice(17)
    }
  }
}

export interface Subscriber {
  /** Every event that the client has read, in order. */
  readonly received: ReadonlyArray<ReceivedEvent>
  /** The reason that the server gave for the end of the stream; `undefined` while it gave none. */
  readonly closing: string | undefined
  /** The client reads no more. Later frames of the server fill the connection's buffer. */
  readonly pause: Effect.Effect<void>
  /** The client reads what has arrived, and goes on reading. */
  readonly resume: Effect.Effect<void>
  /** Done when the connection is gone. */
  readonly ended: Effect.Effect<EndReason>
  /** Ends the stream from the client's side. */
  readonly close: Effect.Effect<void>
}

/**
 * The body of a `Response` as a sink of the event broker.
 *
 * The body queues at most `highWater` bytes and one write. While the queue is full, the stream waits for the reader, as
 * it waits for a socket on Node, so back-pressure and slow readers have the same rules (docs/design/library.md N13).
 *
 * Pitfall: closing the body at `end` at once. The reader would get everything, but the stream would not learn when: its
 * place would be given back, or its connection destroyed, before the last bytes were read.
 * Pitfall: keeping the signal of a request alone. On Node a request that is collected no longer passes the abort of its
 * client on, and the stream would keep its place for good.
 * Pitfall: handing out the broker's bytes. Streams share them, and a reader may transfer or change what it got.
 */
import type { StreamSink } from "@narthex/core"

/** How many bytes a body may hold before the stream waits, like a socket of Node. */
const highWater = 64 * 1024

export class BodySink implements StreamSink {
  readonly body: ReadableStream<Uint8Array>
  /** The request that the body answers: it lives as long as the sink. */
  readonly request: Request | undefined
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #full = false
  #ending = false
  #gone = false
  #onDrain: () => void = () => {}
  #onClose: () => void = () => {}
  readonly #signal: AbortSignal
  readonly #abort = () => this.#fail(this.#signal.reason)

  /** If the signal of the request is aborted, the body fails with its reason. */
  constructor(request?: Request) {
    this.request = request
    const signal = request?.signal ?? new AbortController().signal
    this.#signal = signal
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#pulled(),
        cancel: () => this.#over()
      },
      new ByteLengthQueuingStrategy({ highWaterMark: highWater })
    )
    if (signal.aborted) this.#abort()
    else signal.addEventListener("abort", this.#abort, { once: true })
  }

  write(bytes: Uint8Array): boolean {
    if (this.#gone || this.#ending) return false
    this.#controller?.enqueue(bytes.slice())
    this.#full = (this.#controller?.desiredSize ?? 0) <= 0
    return !this.#full
  }

  end() {
    this.#ending = true
    this.#finish()
  }

  destroy() {
    this.#fail(new Error("The stream was closed before its last bytes were read."))
  }

  onDrain(callback: () => void) {
    this.#onDrain = callback
  }

  onClose(callback: () => void) {
    if (this.#gone) queueMicrotask(callback)
    else this.#onClose = callback
  }

  /** The reader has taken bytes. Called from within `enqueue` too, where a reader waits; the queue is not full then. */
  #pulled() {
    if (this.#ending) return this.#finish()
    if (!this.#full) return
    this.#full = false
    queueMicrotask(() => {
      if (!this.#gone) this.#onDrain()
    })
  }

  /** Closes the body once everything has been read. */
  #finish() {
    if (this.#gone || this.#controller?.desiredSize !== highWater) return
    this.#controller.close()
    this.#over()
  }

  #fail(reason: unknown) {
    if (this.#gone) return
    this.#controller?.error(reason)
    this.#over()
  }

  #over() {
    if (this.#gone) return
    this.#gone = true
    this.#signal.removeEventListener("abort", this.#abort)
    const closed = this.#onClose
    queueMicrotask(() => closed())
  }
}

/**
 * Reads a socket for the handshake, only while a parser needs bytes.
 *
 * Pitfall: letting the socket flow without a pending read. Bytes of the TLS handshake would be read as plaintext.
 * `watch` is the exception: to notice that a client has left it reads ahead, up to 16 kB.
 */
import type { Socket } from "node:net"
import { type Cancel, nothing } from "../control-plane/Run.ts"
import { ByteQueue } from "../wire/ByteQueue.ts"

const largestAhead = 16_384

export class SocketReader {
  readonly socket: Socket
  readonly #queue = new ByteQueue()
  #ended = false
  #detached = false
  /** Looks at what has arrived, while a parser needs bytes or the peer is watched. */
  #wake: (() => void) | undefined

  constructor(socket: Socket) {
    this.socket = socket
    socket.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onEnd).on("error", this.#onEnd)
    socket.pause()
    this.#ended = socket.destroyed || socket.readableEnded
  }

  /**
   * Reads until the parser returns a value, and passes it to `done`; `undefined` if the connection ends before. After a
   * cancel `done` is not called.
   */
  read<A>(parse: (queue: ByteQueue) => A | undefined, done: (parsed: A | undefined) => void): Cancel {
    const parsed = parse(this.#queue)
    if (parsed !== undefined || this.#ended) {
      done(parsed)
      return nothing
    }
    this.#wake = () => {
      const parsed = parse(this.#queue)
      if (parsed === undefined && !this.#ended) return
      this.#wake = undefined
      done(parsed)
    }
    this.socket.resume()
    return () => this.#rest()
  }

  /**
   * Reads ahead, and calls `left` once when the peer closes the connection, until `detach` or the next read. Returns
   * `false` if it is closed already.
   */
  watch(left: () => void): boolean {
    if (this.#ended) return false
    this.#wake = () => {
      if (!this.#ended) return
      this.#wake = undefined
      left()
    }
    this.socket.resume()
    return true
  }

  /** Whether the peer has sent more bytes than were parsed. */
  get ahead(): boolean {
    return this.#queue.length > 0 || this.socket.readableLength > 0
  }

  /** Stops reading, and returns the bytes that were read but not parsed. The socket may flow. */
  detach(): Buffer {
    this.#detached = true
    this.#wake = undefined
    this.socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd).off("error", this.#onEnd)
    // An error event without a listener terminates the process.
    this.socket.on("error", ignore)
    return this.#queue.rest()
  }

  #rest() {
    this.#wake = undefined
    this.socket.pause()
  }

  readonly #onData = (chunk: Buffer) => {
    this.#queue.push(chunk)
    this.#wake?.()
    // The callback may have read on, begun to watch, or detached the reader.
    if (this.#detached) return
    if (this.#wake === undefined || this.#queue.length > largestAhead) this.socket.pause()
  }

  readonly #onEnd = () => {
    this.#ended = true
    this.#wake?.()
  }
}

const ignore = () => {}

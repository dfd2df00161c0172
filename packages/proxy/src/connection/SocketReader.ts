/**
 * Reads a socket for the handshake, only while a parser needs bytes.
 *
 * Pitfall: letting the socket flow without a pending read. Bytes of the TLS handshake would be read as plaintext.
 * `watch` is the exception: to notice that a client has left it reads ahead, up to 16 kB.
 */
import type { Socket } from "node:net"
import { Effect } from "effect"
import { Hangup } from "../outcomes/Refusal.ts"
import { ByteQueue } from "../wire/ByteQueue.ts"

const largestAhead = 16_384

export class SocketReader {
  readonly socket: Socket
  readonly #queue = new ByteQueue()
  #ended = false
  #watching = false
  #wake: (() => void) | undefined

  constructor(socket: Socket) {
    this.socket = socket
    socket.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onEnd).on("error", this.#onEnd)
    socket.pause()
    this.#ended = socket.destroyed || socket.readableEnded
  }

  /** Reads until the parser returns a value. Fails with a hangup if the connection ends before. */
  read<A>(parse: (queue: ByteQueue) => A | undefined): Effect.Effect<A, Hangup> {
    return Effect.suspend(() => {
      const parsed = parse(this.#queue)
      return parsed === undefined ? Effect.andThen(this.#more, this.read(parse)) : Effect.succeed(parsed)
    })
  }

  /**
   * Reads ahead, and calls `left` once when the peer closes the connection, until `detach` or the next read. Returns
   * `false` if it is closed already.
   */
  watch(left: () => void): boolean {
    if (this.#ended) return false
    this.#wake = () => {
      if (!this.#ended) return
      this.#rest()
      left()
    }
    this.#watching = true
    this.socket.resume()
    return true
  }

  /** Whether the peer has sent more bytes than were parsed. */
  get ahead(): boolean {
    return this.#queue.length > 0 || this.socket.readableLength > 0
  }

  /** Stops reading, pauses the socket, and returns the bytes that were read but not parsed. */
  detach(): Buffer {
    this.#rest()
    this.socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd)
    return this.#queue.rest()
  }

  get ended(): boolean {
    return this.#ended
  }

  readonly #more: Effect.Effect<void, Hangup> = Effect.callback((resume) => {
    const before = this.#queue.length
    const check = () => {
      if (this.#queue.length > before) resume(Effect.void)
      else if (this.#ended) resume(new Hangup({ event: "client_left" }))
    }
    this.#wake = check
    check()
    this.socket.resume()
    return Effect.sync(() => this.#rest())
  })

  #rest() {
    this.#wake = undefined
    this.#watching = false
    this.socket.pause()
  }

  readonly #onData = (chunk: Buffer) => {
    this.#queue.push(chunk)
    if (!this.#watching || this.#queue.length > largestAhead) this.socket.pause()
    this.#wake?.()
  }

  readonly #onEnd = () => {
    this.#ended = true
    this.#wake?.()
  }
}

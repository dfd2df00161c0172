/**
 * The socket of a compute, read into a buffer that is used again.
 *
 * Node allocates 64 kB for every read of an ordinary socket, also for the 50 bytes that answer a query, and gives most
 * of it back: with many short queries the collector of garbage takes a fifth of the time. Here a session has 1 kB, 4 kB
 * from the first read that fills it, and more while it reads long results. With TLS, Node allocates what it decrypts.
 *
 * Pitfall: reusing the buffer while its bytes are being written. A write that the kernel did not take at once refers to
 * them until it has ended, so the buffer then belongs to that write, and the next read gets another one.
 */
import { connect, type NetConnectOpts, type Socket } from "node:net"
import type { TLSSocket } from "node:tls"

/**
 * Takes bytes, which are valid during the call. Returns whether it keeps them: a buffer of which bytes are kept is not
 * used again.
 */
export type Receive = (bytes: Buffer) => boolean

/** The sizes of a buffer in bytes. A write of 64 kB would reach the high-water mark of its socket on its own. */
const [least, small, large] = [1_024, 4_096, 49_152]

export class ComputeSocket {
  readonly socket: Socket
  /** Where the bytes go. */
  receive: Receive = discard
  /** Asked after each read: whether a result is on its way, of which more bytes may come at once. */
  expectsMore: () => boolean = never
  #buffer = Buffer.allocUnsafeSlow(least)
  /** The size while no long result is on its way. */
  #usual = least
  #kept = false
  #full = false

  /** Connects, or takes a connection of TLS. */
  constructor(to: NetConnectOpts | { readonly secured: TLSSocket }) {
    if ("secured" in to) {
      this.socket = to.secured
      to.secured.on("data", (bytes: Buffer) => void this.receive(bytes))
    } else {
      const onread = { buffer: () => this.#next(), callback: (length: number) => this.#read(length) }
      this.socket = connect({ ...to, onread })
    }
  }

  #read(length: number): boolean {
    this.#full = length === this.#buffer.length
    this.#kept = this.receive(this.#buffer.subarray(0, length))
    // `false` would stop reading, which `socket.pause` does.
    return true
  }

  /** The buffer of the next read. */
  #next(): Buffer {
    if (this.#full) this.#usual = small
    const grown = this.#full ? large : this.#buffer.length
    const size = this.expectsMore() ? grown : this.#usual
    if (this.#kept || size !== this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(size)
    return this.#buffer
  }
}

export const discard: Receive = () => false

const never = () => false

/**
 * Walks the headers of typed protocol messages (one type byte, four length bytes) and skips their bodies. The walker
 * sees all relayed bytes, so it allocates nothing for a message whose body is not wanted.
 *
 * Pitfall: assuming that chunks end where messages end. A chunk may end inside a header or a body; between two chunks
 * the walker keeps how much of either is missing.
 */

export interface MessageListener {
  /** Whether to collect bodies of this type. Bodies of more than 1,024 bytes are never collected. */
  readonly wants: (type: number) => boolean
  /**
   * Called for each message: after its header if its body is not collected, otherwise after its last byte. A body is
   * valid during the call.
   */
  readonly message: (type: number, body: Buffer) => void
}

const nothing = Buffer.alloc(0)
const largestBody = 1_024

export class MessageWalker {
  readonly #listener: MessageListener
  /** Holds a header that is split between chunks. */
  #header: Buffer | undefined
  #headerBytes = 0
  #skip = 0
  #type = 0
  /** Whether the body of the current message is collected, and what has been. */
  #wanted = false
  #body: Buffer | undefined
  #bodyBytes = 0
  #broken = false

  constructor(listener: MessageListener) {
    this.#listener = listener
  }

  /** Whether the last byte ended a message. Always `false` after an invalid length. */
  get atBoundary(): boolean {
    return this.#skip === 0 && this.#headerBytes === 0 && !this.#broken
  }

  walk(chunk: Buffer): void {
    this.#advance(chunk, false)
  }

  /** Walks to the end of the current message. Returns the offset after it, or -1 if it does not end in this chunk. */
  walkToBoundary(chunk: Buffer): number {
    return this.#advance(chunk, true)
  }

  #advance(chunk: Buffer, stop: boolean): number {
    const end = chunk.length
    let at = 0
    while (at < end && !this.#broken) {
      if (this.#skip > 0) {
        const bytes = Math.min(this.#skip, end - at)
        if (this.#wanted) this.#collect(chunk, at, bytes)
        this.#skip -= bytes
        at += bytes
        if (this.#skip === 0 && this.#wanted) this.#finish()
      } else if (this.#headerBytes === 0 && end - at >= 5) {
        this.#begin(chunk, at)
        at += 5
      } else {
        this.#header ??= Buffer.allocUnsafe(5)
        const bytes = chunk.copy(this.#header, this.#headerBytes, at, at + 5 - this.#headerBytes)
        this.#headerBytes += bytes
        at += bytes
        if (this.#headerBytes < 5) continue
        this.#headerBytes = 0
        this.#begin(this.#header, 0)
      }
      if (stop && this.atBoundary) return at
    }
    return -1
  }

  #begin(bytes: Buffer, at: number): void {
    const type = bytes[at] ?? 0
    const size = bytes.readInt32BE(at + 1) - 4
    if (size < 0) {
      this.#broken = true
      return
    }
    this.#skip = size
    if (size <= largestBody && this.#listener.wants(type)) {
      this.#type = type
      this.#wanted = true
      if (size === 0) this.#finish()
    } else this.#listener.message(type, nothing)
  }

  #collect(chunk: Buffer, at: number, bytes: number): void {
    // A body in one piece, the usual case, is not copied.
    if (this.#body === undefined && bytes === this.#skip) this.#body = chunk.subarray(at, at + bytes)
    else {
      this.#body ??= Buffer.allocUnsafe(this.#skip)
      this.#bodyBytes += chunk.copy(this.#body, this.#bodyBytes, at, at + bytes)
    }
  }

  #finish(): void {
    const body = this.#body ?? nothing
    this.#body = undefined
    this.#bodyBytes = 0
    this.#wanted = false
    this.#listener.message(this.#type, body)
  }
}

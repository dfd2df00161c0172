const none = Buffer.alloc(0)

/** Received bytes in order, independent of chunk boundaries. Parsers peek, and take complete packets only. */
export class ByteQueue {
  #bytes: Buffer = none

  get length(): number {
    return this.#bytes.length
  }

  push(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
  }

  /** The first `size` bytes without taking them; `undefined` if fewer have arrived. */
  peek(size: number): Buffer | undefined {
    return this.#bytes.length < size ? undefined : this.#bytes.subarray(0, size)
  }

  /** Takes the first `size` bytes; if fewer have arrived it takes none and returns `undefined`. */
  take(size: number): Buffer | undefined {
    const taken = this.peek(size)
    if (taken !== undefined) this.#bytes = this.#bytes.subarray(size)
    return taken
  }

  /** Takes all bytes. */
  rest(): Buffer {
    const all = this.#bytes
    this.#bytes = none
    return all
  }
}

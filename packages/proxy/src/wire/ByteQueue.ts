/** Bytes in the order in which they came, whatever pieces they came in. Parsers look, and take once a whole is there. */
export class ByteQueue {
  #bytes: Buffer = Buffer.alloc(0)

  get length(): number {
    return this.#bytes.length
  }

  push(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
  }

  /** The first `size` bytes without taking them; `undefined` until they are there. */
  peek(size: number): Buffer | undefined {
    return this.#bytes.length < size ? undefined : this.#bytes.subarray(0, size)
  }

  /** Takes the first `size` bytes; `undefined`, and nothing taken, until they are there. */
  take(size: number): Buffer | undefined {
    const taken = this.peek(size)
    if (taken !== undefined) this.#bytes = this.#bytes.subarray(size)
    return taken
  }

  /** Takes everything. */
  rest(): Buffer {
    const all = this.#bytes
    this.#bytes = Buffer.alloc(0)
    return all
  }
}

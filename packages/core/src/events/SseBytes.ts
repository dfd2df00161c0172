/**
 * Bytes of a stream in the two forms that transports want: the payload alone, and the same framed as HTTP/1.1
 * chunks, which a socket takes as they are. Whichever was not given is made once, when first asked for, and
 * shared by all who hold the object.
 */
const encoder = new TextEncoder()
const carriageReturn = 13

/** One HTTP/1.1 chunk (RFC 9112 §7.1). */
const chunk = (payload: Uint8Array): Uint8Array => {
  const size = encoder.encode(`${payload.length.toString(16)}\r\n`)
  const bytes = new Uint8Array(size.length + payload.length + 2)
  bytes.set(size)
  bytes.set(payload, size.length)
  bytes.set([13, 10], size.length + payload.length)
  return bytes
}

/** Takes chunk framing off again. Only for chunks made here. */
const unchunk = (chunked: Uint8Array): Uint8Array => {
  const payload = new Uint8Array(chunked.length)
  let length = 0
  let at = 0
  while (at < chunked.length) {
    const lineEnd = chunked.indexOf(carriageReturn, at)
    const size = Number.parseInt(String.fromCharCode(...chunked.subarray(at, lineEnd)), 16)
    payload.set(chunked.subarray(lineEnd + 2, lineEnd + 2 + size), length)
    length += size
    at = lineEnd + 2 + size + 2
  }
  return payload.subarray(0, length)
}

export class SseBytes {
  #payload: Uint8Array | undefined
  #chunked: Uint8Array | undefined

  private constructor(payload: Uint8Array | undefined, chunked: Uint8Array | undefined) {
    this.#payload = payload
    this.#chunked = chunked
  }

  static readonly ofText = (text: string) => new SseBytes(encoder.encode(text), undefined)

  static readonly ofChunked = (chunked: Uint8Array) => new SseBytes(undefined, chunked)

  /** The stream's own bytes: what HTTP/2 and buffered transports send. */
  get payload(): Uint8Array {
    this.#payload ??= unchunk(this.#chunked ?? new Uint8Array())
    return this.#payload
  }

  /** The same as whole HTTP/1.1 chunks, to be written to the socket as they are. */
  get chunked(): Uint8Array {
    this.#chunked ??= chunk(this.#payload ?? new Uint8Array())
    return this.#chunked
  }

  /** Bytes on an HTTP/1.1 socket. */
  get size(): number {
    return this.chunked.length
  }
}

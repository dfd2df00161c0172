/**
 * Bytes of a stream in the two forms that transports need: the payload alone, and the same framed as HTTP/1.1
 * chunks, which a socket takes as they are. Each is made once, at the first access, and shared by every holder of the
 * object.
 */
const encoder = new TextEncoder()
const carriageReturn = 13
const lineFeed = 10

/** The payload starts here: the line with its size goes before it. */
const sizeLine = 10
const lineEnd = 2
const room = new Uint8Array(64 * 1024)
const payloadRoom = room.subarray(sizeLine)

const hexDigit = (value: number) => value + (value < 10 ? 48 : 87)

/**
 * One HTTP/1.1 chunk (RFC 9112 §7.1). The result is valid until the next call, which may reuse the bytes: a
 * ring copies them anyway, and allocating them would cost ten times the encoding.
 */
export const chunkOfText = (text: string): Uint8Array => {
  const longest = sizeLine + 3 * text.length + lineEnd
  const bytes = longest <= room.length ? room : new Uint8Array(longest)
  const length = encoder.encodeInto(text, bytes === room ? payloadRoom : bytes.subarray(sizeLine)).written
  let start = sizeLine
  bytes[--start] = lineFeed
  bytes[--start] = carriageReturn
  for (let left = length; start === sizeLine - lineEnd || left > 0; left >>>= 4) bytes[--start] = hexDigit(left & 15)
  bytes[sizeLine + length] = carriageReturn
  bytes[sizeLine + length + 1] = lineFeed
  return bytes.subarray(start, sizeLine + length + lineEnd)
}

/** Removes chunk framing. Only for chunks made by `chunkOfText`. */
const unchunk = (chunked: Uint8Array): Uint8Array => {
  const payload = new Uint8Array(chunked.length)
  let length = 0
  let at = 0
  while (at < chunked.length) {
    const end = chunked.indexOf(carriageReturn, at)
    const size = Number.parseInt(String.fromCharCode(...chunked.subarray(at, end)), 16)
    payload.set(chunked.subarray(end + lineEnd, end + lineEnd + size), length)
    length += size
    at = end + lineEnd + size + lineEnd
  }
  return payload.subarray(0, length)
}

export class SseBytes {
  readonly #text: string | undefined
  #payload: Uint8Array | undefined
  #chunked: Uint8Array | undefined

  private constructor(text: string | undefined, chunked: Uint8Array | undefined) {
    this.#text = text
    this.#chunked = chunked
  }

  static readonly ofText = (text: string) => new SseBytes(text, undefined)

  static readonly ofChunked = (chunked: Uint8Array) => new SseBytes(undefined, chunked)

  /** The stream's own bytes: what HTTP/2 and buffered transports send. */
  get payload(): Uint8Array {
    this.#payload ??= this.#text === undefined ? unchunk(this.chunked) : encoder.encode(this.#text)
    return this.#payload
  }

  /** The same as whole HTTP/1.1 chunks, to be written to the socket as they are. */
  get chunked(): Uint8Array {
    this.#chunked ??= chunkOfText(this.#text ?? "").slice()
    return this.#chunked
  }

  /** Bytes on an HTTP/1.1 socket. */
  get size(): number {
    return this.chunked.length
  }
}

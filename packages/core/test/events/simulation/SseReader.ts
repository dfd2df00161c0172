/**
 * The bytes of one connection, however they are cut, as the lines of its stream: takes off the chunk framing of
 * HTTP/1.1 where there is one, and lets nothing pass that is not exactly what the standards say.
 */
const lineFeed = 10
const carriageReturn = 13
const nothing = new Uint8Array()

export class SseReader {
  readonly #chunked: boolean
  readonly #line: (line: string) => void
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  /** Of a line that has not ended. */
  #rest: Uint8Array = nothing
  /** Of a chunk: its size line, while that is coming; then how much of it is to come, its own line end included. */
  #size = ""
  #left = 0

  constructor(chunked: boolean, line: (line: string) => void) {
    this.#chunked = chunked
    this.#line = line
  }

  takes(bytes: Uint8Array) {
    if (!this.#chunked) return this.#text(bytes)
    let at = 0
    while (at < bytes.length) {
      if (this.#left === 0) at = this.#sizeLine(bytes, at)
      else {
        const body = Math.min(bytes.length - at, Math.max(0, this.#left - 2))
        if (body > 0) this.#text(bytes.subarray(at, at + body))
        at += body
        this.#left -= body
        for (; at < bytes.length && this.#left > 0 && this.#left <= 2; at++, this.#left--)
          if (bytes[at] !== (this.#left === 2 ? carriageReturn : lineFeed)) throw new Error("A chunk does not end.")
      }
    }
  }

  #sizeLine(bytes: Uint8Array, from: number): number {
    let at = from
    while (at < bytes.length) {
      const byte = bytes[at++] ?? 0
      this.#size += String.fromCharCode(byte)
      if (byte !== lineFeed) continue
      if (!/^[1-9a-f][0-9a-f]*\r\n$/.test(this.#size)) throw new Error(`No size of a chunk: ${this.#size}`)
      this.#left = Number.parseInt(this.#size, 16) + 2
      this.#size = ""
      break
    }
    return at
  }

  #text(bytes: Uint8Array) {
    const end = bytes.lastIndexOf(lineFeed) + 1
    if (end === 0) {
      this.#rest = joined(this.#rest, bytes)
      return
    }
    const lines = this.#decoder.decode(joined(this.#rest, bytes.subarray(0, end))).split("\n")
    this.#rest = bytes.subarray(end)
    lines.pop()
    for (const line of lines) this.#line(line)
  }
}

const joined = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  if (a.length === 0) return b
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

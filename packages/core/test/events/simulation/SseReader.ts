/** The bytes of one connection, however they are cut, as the lines of its stream. */
const lineFeed = 10
const nothing = new Uint8Array()

export class SseReader {
  readonly #line: (line: string) => void
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  /** The bytes of a line that has not ended. */
  #rest: Uint8Array = nothing

  constructor(line: (line: string) => void) {
    this.#line = line
  }

  takes(bytes: Uint8Array) {
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

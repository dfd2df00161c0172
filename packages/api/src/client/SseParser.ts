/**
 * Parses an event stream by the WHATWG HTML standard (§9.2), from bytes in chunks of any size.
 *
 * Effect's own parser drops blocks without data, and streams of this API move a client's position with id-only blocks
 * (docs/design/events.md E11). It also drops comments, and a comment says why the server closes a stream.
 *
 * Pitfall: moving the position at an `id:` line. An unterminated block at the end of a stream is discarded, with its id.
 */

export type SseItem =
  /** A complete block. `id` is the position after it; `data` is `undefined` when the block had none. */
  | { readonly _tag: "Block"; readonly id: string; readonly event: string; readonly data: string | undefined }
  | { readonly _tag: "Retry"; readonly millis: number }
  | { readonly _tag: "Comment"; readonly text: string }

/** A line or a block is longer than 1 MiB; the server sends none of that size. */
export class SseBlockTooLarge extends Error {
  override readonly name = "SseBlockTooLarge"
}

const maxLength = 1_048_576

export class SseParser {
  /** Strips a byte order mark at the start, and keeps a character that is split between chunks. */
  readonly #decoder = new TextDecoder("utf-8")
  #line = ""
  #afterReturn = false
  #id: string
  #event = ""
  #data: string | undefined

  /** `lastEventId`: the position at which the connection starts. Blocks without an id keep it. */
  constructor(lastEventId = "") {
    this.#id = lastEventId
  }

  /** Takes the next chunk and returns the items that it completes. Throws `SseBlockTooLarge`. */
  feed(bytes: Uint8Array): ReadonlyArray<SseItem> {
    const text = this.#decoder.decode(bytes, { stream: true })
    const items: Array<SseItem> = []
    let start = 0
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code === lineFeed && this.#afterReturn) {
        start = index + 1
        this.#afterReturn = false
        continue
      }
      this.#afterReturn = code === carriageReturn
      if (code !== lineFeed && code !== carriageReturn) continue
      const item = this.#endLine(this.#line + text.slice(start, index))
      if (item !== undefined) items.push(item)
      this.#line = ""
      start = index + 1
    }
    this.#line += text.slice(start)
    if (this.#line.length + (this.#data?.length ?? 0) > maxLength) throw new SseBlockTooLarge()
    return items
  }

  #endLine(line: string): SseItem | undefined {
    if (line === "") return this.#endBlock()
    const colon = line.indexOf(":")
    if (colon === 0) return { _tag: "Comment", text: unspaced(line.slice(1)) }
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : unspaced(line.slice(colon + 1))
    switch (field) {
      case "event":
        this.#event = value
        return undefined
      case "data":
        this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
        return undefined
      case "id":
        if (!value.includes("\0")) this.#id = value
        return undefined
      case "retry":
        return /^[0-9]+$/.test(value) ? { _tag: "Retry", millis: Number(value) } : undefined
      default:
        return undefined
    }
  }

  #endBlock(): SseItem {
    const block = { _tag: "Block", id: this.#id, event: this.#event || "message", data: this.#data } as const
    this.#event = ""
    this.#data = undefined
    return block
  }
}

const lineFeed = 10
const carriageReturn = 13

const unspaced = (text: string) => (text.startsWith(" ") ? text.slice(1) : text)

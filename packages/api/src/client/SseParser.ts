/**
 * Reads an event stream as the WHATWG specification has it, from bytes in any pieces.
 *
 * Effect's own parser drops blocks without data, and an id-only block is how our streams move a client's position
 * (docs/design/events.md E11); it also swallows comments, of which one says why a stream ends. What one would get
 * wrong: an `id:` counts only once its block ends, because an unterminated block at the end of a stream is discarded.
 */

export type SseItem =
  /** A block that ended. `id` is the position from here on; `data` is missing when the block had none. */
  | { readonly _tag: "Block"; readonly id: string; readonly event: string; readonly data: string | undefined }
  | { readonly _tag: "Retry"; readonly millis: number }
  | { readonly _tag: "Comment"; readonly text: string }

/** A line or a block grew past the limit: nothing that we send does. */
export class SseBlockTooLarge extends Error {
  override readonly name = "SseBlockTooLarge"
}

const maxLength = 1_048_576

export class SseParser {
  /** Strips one byte order mark at the start, and keeps a character that is split between pieces. */
  readonly #decoder = new TextDecoder("utf-8")
  #line = ""
  #afterReturn = false
  #id: string
  #event = ""
  #data: string | undefined

  /** `lastEventId` is the position that the connection started from: blocks without an id keep it. */
  constructor(lastEventId = "") {
    this.#id = lastEventId
  }

  /** What a further piece of the stream completes. Throws `SseBlockTooLarge`. */
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

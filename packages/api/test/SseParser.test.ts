import { assert, describe, it } from "@effect/vitest"
import { SseBlockTooLarge, type SseItem, SseParser } from "@narthex/api"
import { createParser } from "eventsource-parser"

const encode = (text: string) => new TextEncoder().encode(text)

const read = (pieces: ReadonlyArray<Uint8Array>, lastEventId?: string): ReadonlyArray<SseItem> => {
  const parser = new SseParser(lastEventId)
  return pieces.flatMap((piece) => parser.feed(piece))
}

const readText = (text: string, lastEventId?: string) => read([encode(text)], lastEventId)

const block = (id: string, event: string, data?: string): SseItem => ({ _tag: "Block", id, event, data })

/** A small generator that always gives the same numbers. */
const numbers = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const lines = [
  'data: {"a":1}',
  "data:x",
  "data",
  "data:  two spaces",
  "id: 01K3Z6V9E8Q0X5M4C2B7N1R0SD",
  "id:nul\u0000",
  "event: operation.updated.v1",
  "retry: 1500",
  "retry: 1.5",
  ": ok",
  ":",
  "unknown: field",
  "data: ä€😀",
  "",
  ""
]

const madeUp = (seed: number): string => {
  const next = numbers(seed)
  const ends = ["\n", "\r", "\r\n"]
  let text = next(2) === 0 ? "\uFEFF" : ""
  for (let count = 0; count < 30; count++) text += (lines[next(lines.length)] ?? "") + (ends[next(ends.length)] ?? "\n")
  return text
}

describe("the parser of event streams", () => {
  it("the SSE parser reads id, event and data", () => {
    assert.deepStrictEqual(readText("id: 1\nevent: e\ndata: a\ndata: b\n\n"), [block("1", "e", "a\nb")])
  })
  it("the SSE parser returns a block without data, which moves the position", () => {
    assert.deepStrictEqual(readText("id: 7\n\n"), [block("7", "message")])
  })
  it("the SSE parser keeps the last id, and the one from before the connection", () => {
    assert.deepStrictEqual(readText("data: a\n\nid: 2\ndata: b\n\ndata: c\n\n", "1"), [
      block("1", "message", "a"),
      block("2", "message", "b"),
      block("2", "message", "c")
    ])
  })
  it("an empty SSE id resets the position, and one with NUL is ignored", () => {
    assert.deepStrictEqual(readText("id\ndata: a\n\nid: x\u0000\ndata: b\n\n", "1"), [
      block("", "message", "a"),
      block("", "message", "b")
    ])
  })
  it("the SSE parser discards a block without an end", () => {
    assert.deepStrictEqual(readText("id: 2\ndata: lost\n", "1"), [])
  })
  it("the SSE parser returns comments, which say why a stream ends", () => {
    assert.deepStrictEqual(readText(": closing reason=draining\n:\n"), [
      { _tag: "Comment", text: "closing reason=draining" },
      { _tag: "Comment", text: "" }
    ])
  })
  it("the SSE parser accepts a retry of digits only", () => {
    assert.deepStrictEqual(readText("retry: 2000\nretry: -1\nretry: 1e3\nretry:\n"), [{ _tag: "Retry", millis: 2000 }])
  })
  it("the SSE parser strips one byte order mark at the start, and none elsewhere", () => {
    assert.deepStrictEqual(readText("\uFEFFdata: a\n\n\uFEFFdata: b\n\n"), [
      block("", "message", "a"),
      block("", "message")
    ])
  })
  it("the SSE parser ends lines at CR, LF and CRLF", () => {
    assert.deepStrictEqual(readText("data: a\r\rdata: b\r\n\r\ndata: c\n\n"), [
      block("", "message", "a"),
      block("", "message", "b"),
      block("", "message", "c")
    ])
  })
  it("the SSE parser throws for a block over 1 MiB", () => {
    assert.throws(() => readText(`data: ${"x".repeat(1_100_000)}`), SseBlockTooLarge)
    const parser = new SseParser()
    const line = encode(`data: ${"x".repeat(600_000)}\n`)
    parser.feed(line)
    assert.throws(() => parser.feed(line), SseBlockTooLarge)
  })

  it("the SSE parser reads the same however the bytes are split", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const bytes = encode(madeUp(seed))
      const whole = read([bytes])
      assert.deepStrictEqual(read(Array.from(bytes, (byte) => Uint8Array.of(byte))), whole, `seed ${seed}, each byte`)
      for (let at = 0; at <= bytes.length; at++)
        assert.deepStrictEqual(read([bytes.subarray(0, at), bytes.subarray(at)]), whole, `seed ${seed}, at ${at}`)
    }
  })

  it("the SSE parser agrees with another implementation on events and retries", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const text = madeUp(seed)
      const theirs: Array<unknown> = []
      const parser = createParser({
        onEvent: ({ data, event }) => theirs.push({ data, event: event ?? "message" }),
        onRetry: (millis) => theirs.push({ millis })
      })
      parser.feed(text)
      const ours = readText(text).flatMap((item): ReadonlyArray<unknown> => {
        if (item._tag === "Retry") return [{ millis: item.millis }]
        return item._tag === "Block" && item.data !== undefined ? [{ data: item.data, event: item.event }] : []
      })
      assert.deepStrictEqual(ours, theirs, `seed ${seed}`)
    }
  })
})

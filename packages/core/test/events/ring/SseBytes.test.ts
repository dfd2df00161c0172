import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SseBytes } from "../../../src/events/ring/SseBytes.ts"

const encode = (text: string) => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const framed = (text: string) => `${encode(text).length.toString(16)}\r\n${text}\r\n`

const check = (text: string) => {
  assert.deepStrictEqual(SseBytes.ofText(text).payload, encode(text))
  assert.strictEqual(decode(SseBytes.ofText(text).chunked), framed(text))
  assert.deepStrictEqual(SseBytes.ofChunked(SseBytes.ofText(text).chunked).payload, encode(text))
}

describe("bytes of a stream", () => {
  it.prop(
    "the bytes of a text are the text itself, and the same as one chunk",
    [Schema.String.check(Schema.isMinLength(1))],
    ([text]) => {
      // A lone surrogate has no bytes; both forms replace it.
      check(text.toWellFormed())
    }
  )

  it.each([15, 16, 255, 256, 4_095, 4_096, 21_841, 21_842, 65_535, 65_536, 1_048_576])(
    "the bytes of %i characters are the text itself in both forms, at each width of a character",
    (length) => {
      for (const character of ["a", "é", "€"]) check(character.repeat(length))
    }
  )

  it("bytes of a stream do not change when others are made", () => {
    const first = SseBytes.ofText("first")
    const { chunked } = first
    assert.strictEqual(decode(SseBytes.ofText("second").chunked), framed("second"))
    assert.strictEqual(decode(chunked), framed("first"))
    assert.strictEqual(first.chunked, chunked)
  })

  it("several chunks are unchunked to their payload", () => {
    const both = new Uint8Array([...SseBytes.ofText("a\n\n").chunked, ...SseBytes.ofText("ä".repeat(300)).chunked])
    assert.strictEqual(decode(SseBytes.ofChunked(both).payload), `a\n\n${"ä".repeat(300)}`)
  })
})

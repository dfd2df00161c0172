import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Entropy } from "../../src/Entropy.ts"
import { crc32, hintOf, isKeySecret, makeKeySecret } from "../../src/keys/KeySecret.ts"

/** The secret that is made of these bytes, and how many were asked for. */
const secretOf = (fill: (index: number) => number) => {
  const asked: Array<number> = []
  const bytes = (count: number) =>
    Effect.sync(() => {
      asked.push(count)
      return Uint8Array.from({ length: count }, (_, index) => fill(index))
    })
  const secret = Effect.runSync(Effect.provideService(makeKeySecret, Entropy, { bytes }))
  return { asked, text: Redacted.value(secret), secret }
}

describe("crc32", () => {
  it.each([
    ["", 0x00000000],
    ["123456789", 0xcbf43926],
    ["The quick brown fox jumps over the lazy dog", 0x414fa339],
    ["a", 0xe8b7be43]
  ])("of %j is the published value", (text, expected) => {
    assert.strictEqual(crc32(text), expected)
  })
})

describe("makeKeySecret", () => {
  it("asks for 256 random bits, once", () => {
    assert.deepStrictEqual(secretOf(() => 7).asked, [32])
  })

  it("spells the bits in base 62, digits before capitals before small letters, padded to 43", () => {
    assert.strictEqual(secretOf(() => 0).text.slice(0, 47), `nsk_${"0".repeat(43)}`)
    const last = (value: number) => secretOf((index) => (index === 31 ? value : 0)).text.slice(46, 47)
    assert.deepStrictEqual([last(9), last(10), last(35), last(36), last(61)], ["9", "A", "Z", "a", "z"])
    assert.strictEqual(secretOf((index) => (index === 31 ? 62 : 0)).text.slice(45, 47), "10")
  })

  it("keeps the greatest number in 43 digits, so every bit counts", () => {
    const greatest = secretOf(() => 255).text
    assert.match(greatest, /^nsk_[0-9A-Za-z]{49}$/)
    const texts = Array.from({ length: 256 }, (_, bit) =>
      secretOf((index) => (index === bit >> 3 ? 1 << (bit & 7) : 0)).text.slice(0, 47)
    )
    assert.strictEqual(new Set(texts).size, 256)
  })

  it("ends with the checksum of what comes before, six digits, padded on the left", () => {
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    for (const fill of [0, 1, 77, 255]) {
      const { text } = secretOf(() => fill)
      const value = [...text.slice(47)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
      assert.strictEqual(value, crc32(text.slice(0, 47)))
    }
  })

  it("shows nothing when it is printed, and its last four characters as a hint", () => {
    const { secret, text } = secretOf((index) => index)
    assert.notInclude(String(secret), text)
    assert.notInclude(JSON.stringify({ secret }), text)
    assert.strictEqual(hintOf(secret), `…${text.slice(-4)}`)
    assert.notInclude(hintOf(secret), "nsk_")
  })
})

describe("isKeySecret", () => {
  const { text } = secretOf((index) => index * 7)
  it("knows its own", () => {
    assert.isTrue(isKeySecret(text))
  })

  it("notices every wrong character, and every two that changed places", () => {
    for (let index = 4; index < text.length; index++) {
      const wrong = text[index] === "x" ? "y" : "x"
      assert.isFalse(isKeySecret(text.slice(0, index) + wrong + text.slice(index + 1)), `character ${index}`)
      const [a, b] = [text[index - 1], text[index]]
      if (index > 4 && a !== b)
        assert.isFalse(isKeySecret(`${text.slice(0, index - 1)}${b}${a}${text.slice(index + 1)}`), `swap ${index}`)
    }
  })

  it.each([
    "",
    "nsk_",
    text.slice(0, -1),
    `${text}0`,
    ` ${text}`,
    `${text}\n`,
    text.toUpperCase(),
    text.replace("nsk_", "nsk-")
  ])("takes %j for none", (given) => {
    assert.isFalse(isKeySecret(given))
  })
})

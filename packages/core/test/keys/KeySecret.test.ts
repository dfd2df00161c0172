import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Entropy } from "../../src/Entropy.ts"
import { crc32, hintOf, isKeySecret, makeKeySecret } from "../../src/records/keys/KeySecret.ts"

/** The secret that these bytes produce, and the byte counts that were requested. */
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
  ])("crc32(%j) equals the published value", (text, expected) => {
    assert.strictEqual(crc32(text), expected)
  })
})

describe("makeKeySecret", () => {
  it("a secret takes 256 random bits in a single request", () => {
    assert.deepStrictEqual(secretOf(() => 7).asked, [32])
  })

  it("a secret encodes its bits in base 62 (0-9, A-Z, a-z), padded to 43 digits", () => {
    assert.strictEqual(secretOf(() => 0).text.slice(0, 47), `nsk_${"0".repeat(43)}`)
    const last = (value: number) => secretOf((index) => (index === 31 ? value : 0)).text.slice(46, 47)
    assert.deepStrictEqual([last(9), last(10), last(35), last(36), last(61)], ["9", "A", "Z", "a", "z"])
    assert.strictEqual(secretOf((index) => (index === 31 ? 62 : 0)).text.slice(45, 47), "10")
  })

  it("43 digits hold the greatest 256-bit number, so every bit changes the secret", () => {
    const greatest = secretOf(() => 255).text
    assert.match(greatest, /^nsk_[0-9A-Za-z]{49}$/)
    const texts = Array.from({ length: 256 }, (_, bit) =>
      secretOf((index) => (index === bit >> 3 ? 1 << (bit & 7) : 0)).text.slice(0, 47)
    )
    assert.strictEqual(new Set(texts).size, 256)
  })

  it("a secret ends with the CRC-32 of its preceding text in six digits, padded on the left", () => {
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    for (const fill of [0, 1, 77, 255]) {
      const { text } = secretOf(() => fill)
      const value = [...text.slice(47)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
      assert.strictEqual(value, crc32(text.slice(0, 47)))
    }
  })

  it("a secret is redacted when printed, and its hint shows the last four characters", () => {
    const { secret, text } = secretOf((index) => index)
    assert.notInclude(String(secret), text)
    assert.notInclude(JSON.stringify({ secret }), text)
    assert.strictEqual(hintOf(secret), `…${text.slice(-4)}`)
    assert.notInclude(hintOf(secret), "nsk_")
  })
})

describe("isKeySecret", () => {
  const { text } = secretOf((index) => index * 7)
  it("a generated secret is recognized", () => {
    assert.isTrue(isKeySecret(text))
  })

  it("a secret with one wrong character or two adjacent characters swapped is rejected", () => {
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
  ])("%j is not recognized as a key secret", (given) => {
    assert.isFalse(isKeySecret(given))
  })
})

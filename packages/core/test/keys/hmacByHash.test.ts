/** HMAC of two hashes, against the one of Node. */
import { createHmac, hash } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { bytes } from "../../../../test/harness/seed.ts"
import { hmacByHash } from "../../src/records/keys/hmacByHash.ts"

const alloc = (size: number, fill: number) => Buffer.alloc(size, fill)
const signed = (key: Uint8Array<ArrayBuffer>) => Effect.runSync(hmacByHash({ alloc, hash })(key))

/** Lengths around the size of a block and of the shared buffer, with characters of one to four bytes. */
const texts = [0, 1, 53, 55, 56, 63, 64, 65, 255, 256, 257, 2_000].flatMap((length) =>
  ["a", "\u00e9", "\u20ac", "\ud83d\ude00", "\ud800"].map((character) => character.repeat(length))
)

it("an HMAC of two hashes is that of Node, for keys and texts of every length and script", () => {
  for (const length of [0, 1, 32, 64]) {
    const key = new Uint8Array(bytes(length))
    const sign = signed(key)
    // A long text first, so that nothing of it is left in what a shorter one uses.
    for (const text of texts.toReversed().concat(texts))
      assert.strictEqual(
        Effect.runSync(sign(text)),
        createHmac("sha256", key).update(text).digest("base64url"),
        `${length} bytes, ${text.length} characters`
      )
  }
})

it("two keys do not share what they write", () => {
  const [one, other] = [new Uint8Array(bytes(32)), new Uint8Array(bytes(32))]
  const [signOne, signOther] = [signed(one), signed(other)]
  const digest = Effect.runSync(signOne("nsk_a-secret"))
  assert.notStrictEqual(Effect.runSync(signOther("nsk_a-secret")), digest)
  assert.strictEqual(Effect.runSync(signOne("nsk_a-secret")), digest)
})

it("a text is gone from memory that calls share when its digest is answered", () => {
  const made: Array<Buffer> = []
  const noting = (size: number, fill: number) => {
    const buffer = alloc(size, fill)
    made.push(buffer)
    return buffer
  }
  const sign = Effect.runSync(hmacByHash({ alloc: noting, hash })(new Uint8Array(bytes(32))))
  Effect.runSync(sign("nsk_a-secret"))
  assert.isAbove(made.length, 0)
  for (const buffer of made) assert.isFalse(buffer.includes("nsk_a-secret"))
})

it("a key that is longer than a block is refused, because it would have to be hashed first", () => {
  const made = Effect.runSyncExit(hmacByHash({ alloc, hash })(new Uint8Array(65)))
  assert.isTrue(Exit.isFailure(made))
})

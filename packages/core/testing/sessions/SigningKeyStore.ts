/**
 * The contract of `SigningKeyStore`. Run it against every adapter: there is one set of keys, so the layer must be
 * fresh.
 */
import { Effect } from "effect"
import { type SigningKey, SigningKeyStore } from "../../src/records/sessions/SigningKeyStore.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aText, at } from "../records.ts"
import { atOnce } from "../together.ts"

const aKey = (rest: Partial<SigningKey> = {}): SigningKey => ({
  kid: aText("kid"),
  public_jwk: '{"kty":"OKP"}',
  wrapped_private: "wrapped",
  created_at: at(0),
  active_from: at(0),
  retired_until: null,
  ...rest
})

export const signingKeyStoreContract = contract<SigningKeyStore>("SigningKeyStore", (it) => {
  it("exactly one of several simultaneous first keys is added, and later keys replace it", () =>
    Effect.gen(function* () {
      const store = yield* SigningKeyStore
      assert.deepStrictEqual(yield* store.published(at(0)), [])
      const candidates = Array.from({ length: 8 }, () => aKey())
      const won = yield* atOnce(8, (n) => store.addFirst(candidates[n] ?? aKey()))
      assert.strictEqual(won.filter((it) => it).length, 1)
      const first = candidates[won.indexOf(true)] ?? aKey()
      assert.deepStrictEqual(yield* store.published(at(0)), [first])
      assert.isFalse(yield* store.addFirst(aKey()))

      const second = aKey({ created_at: at(10), active_from: at(20) })
      yield* store.rotate(second, at(100))
      assert.deepStrictEqual(yield* store.published(at(99)), [second, { ...first, retired_until: at(100) }])
      assert.deepStrictEqual(yield* store.published(at(100)), [second])

      const third = aKey({ created_at: at(30) })
      yield* store.rotate(third, at(200))
      assert.deepStrictEqual(
        (yield* store.published(at(50))).map(({ kid, retired_until }) => [kid, retired_until]),
        [
          [third.kid, null],
          [second.kid, at(200)],
          [first.kid, at(100)]
        ]
      )
    }))

  it("simultaneous rotations leave one key that signs", () =>
    Effect.gen(function* () {
      const store = yield* SigningKeyStore
      yield* atOnce(8, () => store.rotate(aKey({ created_at: at(60) }), at(300)))
      const signing = (yield* store.published(at(60))).filter((key) => key.retired_until === null)
      assert.lengthOf(signing, 1)
    }))
})

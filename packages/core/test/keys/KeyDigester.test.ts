import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { KeyDigester, type Pepper } from "../../src/records/keys/KeyDigester.ts"

const pepper = (id: string, byte: number): Pepper => ({ id, key: Redacted.make(new Uint8Array(32).fill(byte)) })
const one = pepper("p1", 1)
const two = pepper("p2", 2)
const secret = Redacted.make("nsk_a-secret")

const digestsUnder = (present: Pepper, ...former: ReadonlyArray<Pepper>) =>
  Effect.provide(
    KeyDigester.use(({ digests }) => digests(secret)),
    KeyDigester.layer(present, ...former)
  )

describe("KeyDigester", () => {
  it.effect("digests keep matching through a rotation of the pepper that reaches instances one after another", () =>
    Effect.gen(function* () {
      const [before] = yield* digestsUnder(one)
      const accepting = yield* digestsUnder(one, two)
      const rotated = yield* digestsUnder(two, one)
      assert.deepStrictEqual(accepting[0], before)
      assert.deepInclude([...rotated], before)
      assert.strictEqual(rotated[0].pepper_id, "p2")
      assert.deepInclude([...accepting], rotated[0])
    })
  )

  it.effect("digests of one secret under two peppers differ", () =>
    Effect.gen(function* () {
      const [under1] = yield* digestsUnder(one)
      const [under2] = yield* digestsUnder(two)
      assert.notStrictEqual(under1.digest, under2.digest)
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
import { KnownUsers } from "../../src/connection/KnownUsers.ts"

const [owner, other] = [EndpointId.make("ep-owner"), EndpointId.make("ep-other")]

describe("KnownUsers", () => {
  it("a user is known at its endpoint, for a day after it authenticated last", () => {
    const known = new KnownUsers()
    known.add(owner, "ada", 0)
    known.add(owner, "ada", 1_000)
    assert.isTrue(known.has(owner, "ada", 86_400_999))
    assert.isFalse(known.has(owner, "ada", 86_401_000))
    assert.isFalse(known.has(other, "ada", 1_000))
    assert.isFalse(known.has(owner, "bob", 1_000))
  })

  it("however many users log in at one endpoint, those of others stay known", () => {
    const known = new KnownUsers()
    known.add(owner, "ada", 0)
    known.add(owner, "bob", 0)
    for (let n = 0; n < 10_000; n++) known.add(other, `user-${n}`, 1 + n)
    assert.deepStrictEqual([known.has(owner, "ada", 10_001), known.has(owner, "bob", 10_001)], [true, true])
    // 10,000 are remembered in all.
    assert.deepStrictEqual(
      [0, 1, 2, 9_999].map((n) => known.has(other, `user-${n}`, 10_001)),
      [false, false, true, true]
    )
    known.add(other, "user-2", 10_002)
    known.add(other, "user-10000", 10_003)
    assert.deepStrictEqual(
      [2, 3, 10_000].map((n) => known.has(other, `user-${n}`, 10_003)),
      [true, false, true]
    )
  })
})

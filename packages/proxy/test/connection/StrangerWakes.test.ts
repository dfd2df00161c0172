import { assert, describe, it } from "@effect/vitest"
import { StrangerWakes } from "../../src/connection/StrangerWakes.ts"

const minutes = 60_000

describe("StrangerWakes", () => {
  it("after three wakes without an authentication the pause doubles, from ten minutes to six hours", () => {
    const wakes = new StrangerWakes()
    assert.deepStrictEqual(
      [0, 1, 2].map((at) => wakes.take("a", at)),
      [true, true, true]
    )
    assert.isTrue(wakes.take("b", 2))
    let at = 2
    for (const pause of [10, 20, 40, 80, 160, 320, 360, 360]) {
      assert.isFalse(wakes.take("a", at + pause * minutes - 1), `${pause}`)
      at += pause * minutes
      assert.isTrue(wakes.take("a", at), `${pause}`)
    }
  })

  it("an authentication clears the count of its network, and so does a day", () => {
    const wakes = new StrangerWakes()
    for (const key of ["a", "b"]) for (let n = 0; n < 3; n++) wakes.take(key, 0)
    wakes.clear("a")
    assert.deepStrictEqual([wakes.take("a", 1), wakes.take("b", 1)], [true, false])
    assert.isTrue(wakes.take("b", 24 * 60 * minutes))
    assert.isTrue(wakes.take("b", 24 * 60 * minutes))
  })
})

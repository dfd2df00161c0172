import { assert, describe, it } from "@effect/vitest"
import { TimerWheel } from "../../../src/events/streams/TimerWheel.ts"

describe("a clock that jumps", () => {
  it("a clock that jumps finds the items due at that instant, and none of a later one", () => {
    const wheel = new TimerWheel<string>(100, 0)
    wheel.add("now", 1_000_000)
    wheel.add("next", 1_000_100)
    assert.deepStrictEqual(wheel.due(1_000_000), ["now"])
    assert.deepStrictEqual(wheel.due(1_000_100), ["next"])
  })
})

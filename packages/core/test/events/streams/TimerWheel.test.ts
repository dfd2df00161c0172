import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { TimerWheel } from "../../../src/events/streams/TimerWheel.ts"

const Millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5_000 }))

describe("a timer wheel", () => {
  it.prop(
    "a timer wheel returns each item once, not before its time, and at most two widths after",
    [Schema.Array(Millis)],
    ([times]) => {
      const wheel = new TimerWheel<number>(100, 0)
      for (const [item, at] of times.entries()) wheel.add(item, at)
      const reminded = new Map<number, number>()
      for (let now = 0; now <= 5_300; now += 50)
        for (const item of wheel.due(now)) {
          assert.isFalse(reminded.has(item))
          reminded.set(item, now)
        }
      for (const [item, at] of times.entries()) {
        const when = reminded.get(item) ?? Number.POSITIVE_INFINITY
        assert.isAtLeast(when, at)
        assert.isAtMost(when, at + 200)
      }
    }
  )

  it("a timer wheel survives a clock that jumps ahead or goes back", () => {
    const wheel = new TimerWheel<string>(100, 0)
    wheel.add("soon", 500)
    wheel.add("later", 10_000_000)
    assert.deepStrictEqual(wheel.due(5_000_000), ["soon"])
    assert.deepStrictEqual(wheel.due(1_000), [])
    wheel.add("past", 2_000)
    assert.deepStrictEqual(wheel.due(5_000_100), ["past"])
    assert.deepStrictEqual(wheel.due(1e12), ["later"])
  })
})

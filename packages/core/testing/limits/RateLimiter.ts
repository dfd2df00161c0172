/** The contract of `RateLimiter`. Run it against every adapter. */
import { DateTime, Duration, Effect } from "effect"
import { RateLimiter, type Take } from "../../src/records/limits/RateLimiter.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aText } from "../records.ts"
import { atOnce } from "../together.ts"

/** Starts a window of a minute. */
const start = DateTime.makeUnsafe("2026-01-01T00:00:00Z")

/** Ten per minute for one subject; `take(seconds)` takes at that second. */
const tenAMinute = (rest: Partial<Take> = {}) => {
  const subject = aText("address")
  return (seconds: number, cost = 1) =>
    Effect.flatMap(RateLimiter, (limiter) =>
      limiter.take({
        limit_name: "exchange",
        subject,
        limit: 10,
        window_seconds: 60,
        now: DateTime.addDuration(start, Duration.seconds(seconds)),
        cost,
        ...rest
      })
    )
}

export const rateLimiterContract = contract<RateLimiter>("RateLimiter", (it) => {
  it("a limit allows its number in a window, and reports what is left", () =>
    Effect.gen(function* () {
      const take = tenAMinute()
      assert.deepStrictEqual(yield* take(0), { allowed: true, remaining: 9, reset_seconds: 60 })
      assert.deepStrictEqual(yield* take(20, 8), { allowed: true, remaining: 1, reset_seconds: 40 })
      assert.deepStrictEqual(yield* take(50.5), { allowed: true, remaining: 0, reset_seconds: 10 })
      assert.isFalse((yield* take(59)).allowed)
    }))

  it("simultaneous takes count like sequential ones", () =>
    Effect.gen(function* () {
      const take = tenAMinute()
      const taken = yield* atOnce(25, () => take(0))
      assert.strictEqual(taken.filter((it) => it.allowed).length, 10)
    }))

  it("limits and subjects are counted separately", () =>
    Effect.gen(function* () {
      const subject = aText("address")
      yield* tenAMinute({ subject })(0, 10)
      assert.isFalse((yield* tenAMinute({ subject })(0)).allowed)
      assert.isTrue((yield* tenAMinute({ subject, limit_name: "refresh" })(0)).allowed)
      assert.isTrue((yield* tenAMinute()(0)).allowed)
    }))

  it("a cost is taken whole or not at all, and a refusal does not count", () =>
    Effect.gen(function* () {
      const take = tenAMinute()
      yield* take(0, 7)
      for (const _ of [1, 2, 3]) assert.deepStrictEqual((yield* take(0, 4)).allowed, false)
      assert.deepStrictEqual(yield* take(0, 3), { allowed: true, remaining: 0, reset_seconds: 60 })
    }))

  it("the window slides: its end does not free everything at once", () =>
    Effect.gen(function* () {
      const take = tenAMinute()
      yield* take(59, 10)
      assert.isFalse((yield* take(60)).allowed)
      assert.deepStrictEqual(yield* take(90, 5), { allowed: true, remaining: 0, reset_seconds: 30 })
      assert.isFalse((yield* take(90)).allowed)
      assert.isTrue((yield* take(96)).allowed)
    }))

  it("a refusal reports the earliest time at which the same cost is allowed", () =>
    Effect.gen(function* () {
      for (const [first, again, cost] of [
        [0, 1, 1],
        [30, 59, 10],
        [59, 61, 3],
        [59, 100, 9]
      ] as const) {
        const take = tenAMinute()
        yield* take(first, 10)
        const refused = yield* take(again, cost)
        assert.isFalse(refused.allowed)
        assert.isFalse((yield* take(again + refused.reset_seconds - 1, cost)).allowed)
        assert.isTrue((yield* take(again + refused.reset_seconds, cost)).allowed)
      }
    }))

  it("counters expire after two windows, and a cost above the limit is always refused", () =>
    Effect.gen(function* () {
      const take = tenAMinute()
      yield* take(0, 10)
      assert.deepStrictEqual(yield* take(120, 10), { allowed: true, remaining: 0, reset_seconds: 60 })
      const never = yield* tenAMinute()(0, 11)
      assert.deepStrictEqual(never, { allowed: false, remaining: 10, reset_seconds: 120 })
    }))

  it("an instance with a slow clock does not reset the counters", () =>
    Effect.gen(function* () {
      const take = tenAMinute()
      yield* take(60, 6)
      assert.isTrue((yield* take(59, 4)).allowed)
      assert.isFalse((yield* take(59)).allowed)
      assert.isFalse((yield* take(60)).allowed)
    }))

  it("purging removes only counters that no longer count", () =>
    Effect.gen(function* () {
      const limiter = yield* RateLimiter
      const take = tenAMinute()
      yield* take(0, 10)
      yield* limiter.purge(DateTime.addDuration(start, "119 seconds"))
      assert.isFalse((yield* take(60)).allowed)
      yield* limiter.purge(DateTime.addDuration(start, "120 seconds"))
      assert.isTrue((yield* take(0, 10)).allowed)
    }))
})

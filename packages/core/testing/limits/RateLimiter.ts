/** The contract of `RateLimiter`. Run it against every adapter. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, type Layer } from "effect"
import { RateLimiter, type Take } from "../../src/limits/RateLimiter.ts"
import { aText } from "../records.ts"
import { atOnce } from "../together.ts"

/** Starts a window of a minute. */
const start = DateTime.makeUnsafe("2026-01-01T00:00:00Z")

/** Ten a minute for one subject; `take(seconds)` asks at that second. */
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

export const rateLimiterContract = <E>(name: string, adapter: Layer.Layer<RateLimiter, E>) =>
  layer(adapter, { excludeTestServices: true })(`RateLimiter: ${name}`, (it) => {
    it.effect("allows so many in a window, and says what is left", () =>
      Effect.gen(function* () {
        const take = tenAMinute()
        assert.deepStrictEqual(yield* take(0), { allowed: true, remaining: 9, reset_seconds: 60 })
        assert.deepStrictEqual(yield* take(20, 8), { allowed: true, remaining: 1, reset_seconds: 40 })
        assert.deepStrictEqual(yield* take(50.5), { allowed: true, remaining: 0, reset_seconds: 10 })
        assert.isFalse((yield* take(59)).allowed)
      })
    )

    it.effect("counts at once as one after another", () =>
      Effect.gen(function* () {
        const take = tenAMinute()
        const taken = yield* atOnce(25, () => take(0))
        assert.strictEqual(taken.filter((it) => it.allowed).length, 10)
      })
    )

    it.effect("counts limits and subjects apart", () =>
      Effect.gen(function* () {
        const subject = aText("address")
        yield* tenAMinute({ subject })(0, 10)
        assert.isFalse((yield* tenAMinute({ subject })(0)).allowed)
        assert.isTrue((yield* tenAMinute({ subject, limit_name: "refresh" })(0)).allowed)
        assert.isTrue((yield* tenAMinute()(0)).allowed)
      })
    )

    it.effect("takes all of a cost or nothing, and does not count what it refused", () =>
      Effect.gen(function* () {
        const take = tenAMinute()
        yield* take(0, 7)
        for (const _ of [1, 2, 3]) assert.deepStrictEqual((yield* take(0, 4)).allowed, false)
        assert.deepStrictEqual(yield* take(0, 3), { allowed: true, remaining: 0, reset_seconds: 60 })
      })
    )

    it.effect("slides: a window's end does not give everything back at once", () =>
      Effect.gen(function* () {
        const take = tenAMinute()
        yield* take(59, 10)
        assert.isFalse((yield* take(60)).allowed)
        assert.deepStrictEqual(yield* take(90, 5), { allowed: true, remaining: 0, reset_seconds: 30 })
        assert.isFalse((yield* take(90)).allowed)
        assert.isTrue((yield* take(96)).allowed)
      })
    )

    it.effect("tells a refused caller when the same will be allowed, and not later", () =>
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
      })
    )

    it.effect("forgets after two windows, and refuses for ever what is more than the limit", () =>
      Effect.gen(function* () {
        const take = tenAMinute()
        yield* take(0, 10)
        assert.deepStrictEqual(yield* take(120, 10), { allowed: true, remaining: 0, reset_seconds: 60 })
        const never = yield* tenAMinute()(0, 11)
        assert.deepStrictEqual(never, { allowed: false, remaining: 10, reset_seconds: 120 })
      })
    )

    it.effect("bears an instance whose clock is behind", () =>
      Effect.gen(function* () {
        const take = tenAMinute()
        yield* take(60, 6)
        assert.isTrue((yield* take(59, 4)).allowed)
        assert.isFalse((yield* take(59)).allowed)
        assert.isFalse((yield* take(60)).allowed)
      })
    )

    it.effect("purges only counters that say nothing any more", () =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter
        const take = tenAMinute()
        yield* take(0, 10)
        yield* limiter.purge(DateTime.addDuration(start, "119 seconds"))
        assert.isFalse((yield* take(60)).allowed)
        yield* limiter.purge(DateTime.addDuration(start, "120 seconds"))
        assert.isTrue((yield* take(0, 10)).allowed)
      })
    )
  })

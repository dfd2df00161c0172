/** The rate at which calls go on: how many at once, in which order, and what a call leaves behind that does not wait until its turn. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { callRate } from "../../src/limits/callRate.ts"

/** Two calls of a credential in a quarter of a second, three of a party; 64 of a credential may wait. */
const rate = { per_credential: 8, per_party: 12 }

/** Calls by credential, of the party that its first letter names, and what became of each so far. */
const started = Effect.gen(function* () {
  const { inTurn, waiting } = yield* callRate(rate)
  const order: Array<string> = []
  const start = (credential: string) =>
    Effect.forkChild(
      Effect.tap(inTurn({ party: credential.charAt(0), credential }), (turn) =>
        Effect.sync(() => order.push(turn === "too many wait" ? `refused ${credential}` : credential))
      ),
      { startImmediately: true }
    )
  return { order, start, waiting }
})

const times = (count: number, credential: string) => Array.from({ length: count }, () => credential)

const quarter = TestClock.adjust("250 millis")

describe("the rate of calls", () => {
  it.effect("of a credential and of a party so many calls go on in a quarter of a second", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      yield* Effect.forEach([...times(5, "a1"), ...times(3, "a2"), ...times(3, "b1")], start)
      assert.deepStrictEqual(order, ["a1", "a1", "a2", "b1", "b1"])
      yield* TestClock.adjust("249 millis")
      assert.strictEqual(order.length, 5)
      yield* quarter
      assert.deepStrictEqual(order.slice(5).sort(), ["a1", "a1", "a2", "b1"])
    })
  )

  it.effect("calls that wait go on one after another, at the rate of their party", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      yield* Effect.forEach([...times(20, "a1"), ...times(20, "a2"), "b1"], start)
      assert.strictEqual(order.length, 4)
      yield* TestClock.adjust("249 millis")
      const counts: Array<number> = []
      for (let third = 0; third < 12; third++) {
        yield* TestClock.adjust(`${third % 3 === 0 ? 84 : 83} millis`)
        counts.push(order.length - 4)
      }
      assert.deepStrictEqual(
        counts,
        Array.from({ length: 12 }, (_, index) => index + 1)
      )
    })
  )

  it.effect("a call that waits is told that it did", () =>
    Effect.gen(function* () {
      const { inTurn } = yield* callRate({ per_credential: 1, per_party: 1 })
      const call = inTurn({ party: "a", credential: "a1" })
      assert.strictEqual(yield* call, "at once")
      const second = yield* Effect.forkChild(call, { startImmediately: true })
      yield* quarter
      assert.strictEqual(yield* Fiber.join(second), "after a wait")
    })
  )

  it.effect("of a credential eight seconds of its rate may wait, and of another one as many", () =>
    Effect.gen(function* () {
      const { order, start, waiting } = yield* started
      assert.strictEqual(waiting, 64)
      yield* Effect.forEach(times(70, "a1"), start)
      assert.deepStrictEqual(order, ["a1", "a1", ...times(4, "refused a1")])
      yield* start("b1")
      assert.strictEqual(order.at(-1), "b1")
      yield* Effect.forEach(times(33, ""), () => quarter)
      assert.strictEqual(order.filter((each) => each === "a1").length, 66)
    })
  )

  it.effect("a call that is interrupted in its wait has no turn", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      const calls = yield* Effect.forEach([...times(20, "a1"), "a2"], start)
      yield* Fiber.interruptAll(calls.slice(2, 19))
      yield* quarter
      assert.deepStrictEqual(order, ["a1", "a1", "a2", "a1"])
    })
  )

  it.effect("a call that is interrupted after its turn has begun gives its place back", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      const calls = yield* Effect.forEach(times(4, "a1"), start)
      yield* Effect.andThen(quarter, quarter)
      yield* Fiber.interruptAll(calls)
      yield* Effect.andThen(quarter, quarter)
      yield* Effect.forEach(times(3, "a1"), start)
      assert.deepStrictEqual(order, times(6, "a1"))
    })
  )

  it.effect("a wait ends after ten seconds, also if a party has many credentials that wait", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      yield* Effect.forEach(
        Array.from({ length: 300 }, (_, index) => `a${index}`),
        start
      )
      yield* Effect.forEach(times(44, ""), () => quarter)
      assert.strictEqual(order.length, 300)
      assert.isAbove(order.filter((each) => each.startsWith("refused")).length, 170)
    })
  )
})

/** The rate at which calls go on: how many at once, in which order, and what a call leaves behind that does not wait until its turn. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { callRate } from "../../src/limits/callRate.ts"

/** Two calls of a credential at once and then four in a second, four of a party and then eight; 32 of a credential may wait. */
const rate = { per_credential: 4, per_party: 8 }

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
  it.effect("after a pause so many calls of a credential and of a party go on at once", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      const calls = [...times(5, "a1"), ...times(3, "a2"), ...times(3, "b1")]
      yield* Effect.forEach(calls, start)
      assert.deepStrictEqual(order, ["a1", "a1", "a2", "a2", "b1", "b1"])
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(order.length, calls.length)
      order.length = 0
      yield* Effect.forEach(calls, start)
      assert.deepStrictEqual(order, ["a1", "a1", "a2", "a2", "b1", "b1"])
    })
  )

  it.effect("calls that wait go on one after another, at the rate of their party", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      const credentials = Array.from({ length: 20 }, (_, index) => `a${index}`)
      yield* Effect.forEach([...credentials, "b1"], start)
      assert.strictEqual(order.length, 5)
      yield* quarter
      const counts: Array<number> = []
      for (let at = 0; at < 10; at++) {
        yield* TestClock.adjust("125 millis")
        counts.push(order.length)
      }
      assert.deepStrictEqual(counts, [8, 9, 10, 11, 12, 13, 14, 15, 16, 17])
    })
  )

  it.effect("calls of one credential that wait go on at its rate", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      yield* Effect.forEach(times(10, "a1"), start)
      const counts: Array<number> = []
      for (let at = 0; at < 8; at++) {
        yield* quarter
        counts.push(order.length)
      }
      assert.deepStrictEqual(counts, [3, 4, 5, 6, 7, 8, 9, 10])
    })
  )

  it.effect("a call that waits is told that it did", () =>
    Effect.gen(function* () {
      const { inTurn } = yield* callRate({ per_credential: 1, per_party: 1 })
      const call = inTurn({ party: "a", credential: "a1" })
      assert.strictEqual(yield* call, "at once")
      const second = yield* Effect.forkChild(call, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(second), "after a wait")
    })
  )

  it.effect("of a credential eight seconds of its rate may wait, and of another one as many", () =>
    Effect.gen(function* () {
      const { order, start, waiting } = yield* started
      assert.strictEqual(waiting, 32)
      yield* Effect.forEach(times(38, "a1"), start)
      assert.deepStrictEqual(order, ["a1", "a1", ...times(4, "refused a1")])
      yield* start("b1")
      assert.strictEqual(order.at(-1), "b1")
      yield* Effect.forEach(times(33, ""), () => quarter)
      assert.strictEqual(order.filter((each) => each === "a1").length, 34)
    })
  )

  it.effect("a call that is interrupted in its wait has no turn", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      const calls = yield* Effect.forEach([...times(20, "a1"), "a2"], start)
      yield* Fiber.interruptAll(calls.slice(2, 19))
      yield* quarter
      assert.deepStrictEqual(order, ["a1", "a1", "a2", "a1"])
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(order.length, 4)
    })
  )

  it.effect("a call that is interrupted after its turn has begun gives its place back", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      const calls = yield* Effect.forEach(times(4, "a1"), start)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.interruptAll(calls)
      yield* TestClock.adjust("5 seconds")
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
      assert.isAbove(order.filter((each) => each.startsWith("refused")).length, 210)
    })
  )
})

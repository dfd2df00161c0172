import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeDeadlines } from "../../src/limits/Deadlines.ts"

describe("Deadlines", () => {
  it.effect("waits end in the order in which they began, each after its own time", () =>
    Effect.gen(function* () {
      const deadlines = yield* makeDeadlines("10 seconds")
      const ended: Array<string> = []
      deadlines.begin(() => ended.push("first"))
      yield* TestClock.adjust("4 seconds")
      deadlines.begin(() => ended.push("second"))
      yield* TestClock.adjust("5999 millis")
      assert.deepStrictEqual(ended, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(ended, ["first"])
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(ended, ["first", "second"])
    })
  )

  it.effect("a wait that was called off does not end, and those after it keep their time", () =>
    Effect.gen(function* () {
      const deadlines = yield* makeDeadlines("10 seconds")
      const ended: Array<string> = []
      const callOff = deadlines.begin(() => ended.push("called off"))
      yield* TestClock.adjust("5 seconds")
      callOff()
      deadlines.begin(() => ended.push("kept"))
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual(ended, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ended, ["kept"])
    })
  )

  it.effect("a wait that begins after all others have ended has its time, too", () =>
    Effect.gen(function* () {
      const deadlines = yield* makeDeadlines("10 seconds")
      let ended = 0
      for (const round of [1, 2, 3]) {
        yield* TestClock.adjust("1 minute")
        deadlines.begin(() => ended++)
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(ended, round)
      }
    })
  )
})

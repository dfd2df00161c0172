/** Fibers that go on a few in a turn of the event loop: how many, in which order, and what a wait leaves behind. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { pacing } from "../../src/authorization/pacing.ts"

const rules = { places: 6, per_party: 3, per_credential: 2, waiting: Number.POSITIVE_INFINITY }

/** Fibers that wait for their turns, by credential, and the order in which they go on. */
const started = Effect.gen(function* () {
  const pace = pacing(rules)
  const order: Array<string> = []
  const start = (credential: string) =>
    Effect.forkChild(
      Effect.map(pace({ party: credential.charAt(0), credential }), () => order.push(credential)),
      { startImmediately: true }
    )
  return { order, pace, start }
})

const times = (count: number, credential: string) => Array.from({ length: count }, () => credential)

describe("pacing", () => {
  it.effect("of a credential, a party and all together so many go on at once, and no more before the next turn", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      yield* Effect.forEach(["a1", "a1", "a1", "a2", "a2", "b1", "b1", "c1", "c1"], start)
      assert.deepStrictEqual(order, ["a1", "a1", "a2", "b1", "b1", "c1"])
    })
  )

  it.effect("what waits goes on in the turns of parties, and of their credentials, until nothing is left", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      const fibers = yield* Effect.forEach([...times(60, "a1"), ...times(2, "a2"), "b1"], start)
      assert.deepStrictEqual(order, ["a1", "a1", "a2", "b1"])
      let turns = 0
      while (order.length < fibers.length && turns < 100) {
        const before = order.length
        yield* Effect.yieldNow
        turns += 1
        assert.isAtMost(order.length - before, 2 * rules.per_party, "in one turn, and at its end")
      }
      assert.isAtLeast(turns, 15)
      assert.strictEqual(order.indexOf("a2", 3), order.lastIndexOf("a2"), "each of its two has had its turn")
      assert.isAtMost(order.lastIndexOf("a2"), 7)
      assert.strictEqual(order.length, fibers.length)
    })
  )

  it.effect("a wait that is interrupted takes no turn of another", () =>
    Effect.gen(function* () {
      const { order, start } = yield* started
      const fibers = yield* Effect.forEach(times(50, "a1"), start)
      yield* Fiber.interruptAll(fibers.slice(2, 49))
      // Those that were interrupted would take the next 23 turns.
      for (let turn = 0; turn < 10; turn++) yield* Effect.yieldNow
      assert.strictEqual(order.length, 3)
    })
  )

  it.effect("what has no requester goes on at once", () =>
    Effect.gen(function* () {
      const { pace, start } = yield* started
      yield* Effect.forEach(times(10, "a1"), start)
      const own = yield* Effect.forkChild(
        Effect.forEach(times(100, ""), () => pace(null)),
        { startImmediately: true }
      )
      assert.isDefined(own.pollUnsafe())
    })
  )
})

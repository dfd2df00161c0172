import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ReplayBudget, type ReplayTurn } from "../../../src/services/events/streams/ReplayBudget.ts"

/** Which of these may replay now. */
const granted = (...turns: ReadonlyArray<ReplayTurn>) =>
  turns.map((turn) => Effect.runFork(turn.granted).pollUnsafe() !== undefined)

describe("a budget of replays", () => {
  it("the replay budget runs no more replays than it has turns, first come, first served", () => {
    const budget = new ReplayBudget(2, 1_000)
    const [a, b, c, d] = [budget.request(1), budget.request(1), budget.request(1), budget.request(1)]
    assert.deepStrictEqual(granted(a, b, c, d), [true, true, false, false])
    b.over()
    assert.deepStrictEqual(granted(c, d), [true, false])
  })

  it("the replay budget lets no more bytes be in flight than it has", () => {
    const budget = new ReplayBudget(10, 100)
    const [a, b, c] = [budget.request(60), budget.request(40), budget.request(1)]
    assert.deepStrictEqual(granted(a, b, c), [true, true, false])
    a.over()
    assert.deepStrictEqual(granted(c), [true])
  })

  it("a replay larger than the whole budget runs alone", () => {
    const budget = new ReplayBudget(10, 100)
    const [large, small] = [budget.request(500), budget.request(1)]
    assert.deepStrictEqual(granted(large, small), [true, false])
    large.over()
    assert.deepStrictEqual(granted(small), [true])
  })

  it("a client that leaves before its turn blocks no other", () => {
    const budget = new ReplayBudget(1, 100)
    const [a, b, c] = [budget.request(1), budget.request(1), budget.request(1)]
    b.over()
    a.over()
    assert.deepStrictEqual(granted(a, b, c), [true, false, true])
  })

  it("a turn is given back once, however often it is released", () => {
    const budget = new ReplayBudget(1, 100)
    const [a, b, c] = [budget.request(1), budget.request(1), budget.request(1)]
    a.over()
    a.over()
    assert.deepStrictEqual(granted(b, c), [true, false])
  })
})

/** The reference log at the edges of time and of ranges. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { noEvent } from "../../src/records/events/EventId.ts"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { MemoryStorage } from "../../src/records/memory/MemoryStorage.ts"
import { Transaction } from "../../src/Transaction.ts"
import { commit, event } from "../../testing/events/logFixtures.ts"
import { org, project } from "./fixtures.ts"

const log = Layer.fresh(
  Transaction.layerMemory.pipe(Layer.provideMerge(EventLog.layerMemory), Layer.provide(MemoryStorage.layer))
)

const at = (millis: number) => DateTime.makeUnsafe(millis)

describe("the log in memory", () => {
  it.effect("the log in memory gives rising ids even if the clock goes back", () =>
    Effect.gen(function* () {
      const { tail } = yield* EventLog
      for (const millis of [5_000, 1_000, 4_999, 5_000, 6_000]) {
        yield* TestClock.setTime(millis)
        yield* commit(event(org, project, millis))
      }
      const ids = (yield* tail(0, 10)).map(({ id }) => id)
      assert.deepStrictEqual(ids, ids.toSorted())
      assert.lengthOf(new Set(ids), 5)
    }).pipe(Effect.provide(log))
  )

  it.effect("the log in memory has the last event of a commit as its head", () =>
    Effect.gen(function* () {
      const { head, headOf, tail } = yield* EventLog
      yield* commit(event(org, project, 1), event(org, project, 2), event(org, project, 3))
      const last = (yield* tail(0, 10)).at(-1)
      assert.deepStrictEqual(yield* head, { pos: 3, id: last?.id ?? "" })
      assert.strictEqual(yield* headOf(org), last?.id)
    }).pipe(Effect.provide(log))
  )

  it.effect("the log in memory keeps an event of exactly the instant before which it trims", () =>
    Effect.gen(function* () {
      const { trim } = yield* EventLog
      yield* TestClock.setTime(1_000)
      yield* commit(event(org, project, 1))
      assert.strictEqual(yield* trim(at(1_000), 0), 0)
      assert.strictEqual(yield* trim(at(1_001), 0), 1)
    }).pipe(Effect.provide(log))
  )

  it.effect("the log in memory has no event between a position and itself, trimmed or not", () =>
    Effect.gen(function* () {
      const { scopeHasBetween, tail, trim } = yield* EventLog
      yield* commit(event(org, project, 1), event(org, project, 2))
      const [first, second] = yield* tail(0, 2)
      yield* trim(at(Number.MAX_SAFE_INTEGER / 2), 0)
      assert.isTrue(yield* scopeHasBetween(org, project, noEvent, second?.id ?? ""))
      assert.isFalse(yield* scopeHasBetween(org, project, first?.id ?? "", first?.id ?? ""))
    }).pipe(Effect.provide(log))
  )

  it.effect("the log in memory names the oldest id of the scope on every page", () =>
    Effect.gen(function* () {
      const { history, tail } = yield* EventLog
      yield* commit(event(org, project, 1), event(org, project, 2), event(org, project, 3))
      const [first, second] = yield* tail(0, 2)
      const page = yield* history(org, project, second?.id ?? "", 10)
      assert.deepStrictEqual(page.oldest_id, Option.some(first?.id ?? ""))
      assert.lengthOf(page.events, 1)
    }).pipe(Effect.provide(log))
  )
})

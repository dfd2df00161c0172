/**
 * Floors: of one organization after trimming, and of all organizations after a change of the timeline.
 * Holds docs/design/events.md E16.
 */
import { assert, layer } from "@effect/vitest"
import { EventLog, noEvent, type OrgId, RegionId, Transaction } from "@narthex/core"
import { anOrgId, at } from "@narthex/core/testing"
import { DateTime, Effect, Option } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Database } from "../../src/index.ts"
import { onPostgres } from "./onPostgres.ts"

const emit = (org_id: OrgId, count: number) =>
  Effect.gen(function* () {
    const transaction = yield* Transaction
    yield* transaction.run(
      Effect.forEach(
        Array.from({ length: count }, (_, n) => n),
        (n) =>
          transaction.emit({
            org_id,
            project_id: null,
            type: "thing.updated.v1",
            source: "things",
            internal: false,
            data: { n }
          })
      )
    )
  })

/** Waits until all committed events are in the log, without sequencing any. */
const sequenced = Effect.flatMap(Database, ({ query }) =>
  eventually(
    "the outbox to be empty",
    Effect.map(query("test", "select 1 from narthex.event_outbox limit 1"), (rows) => rows.length === 0)
  )
)

const farAhead = DateTime.makeUnsafe("2999-01-01T00:00:00Z")

layer(onPostgres, { excludeTestServices: true })("event floors", (it) => {
  it.effect("committed events are sequenced at once, without a poll", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const org = anOrgId()
      yield* emit(org, 1201)
      yield* sequenced
      assert.lengthOf((yield* log.window(org, 5000)).events, 1201)
    })
  )

  it.effect("a commit succeeds when its events cannot be sequenced yet", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const log = yield* EventLog
      const org = anOrgId()
      yield* query("test", "alter function narthex.event_sequence rename to event_sequence_away")
      yield* emit(org, 1)
      assert.strictEqual(yield* log.headOf(org), noEvent)
      yield* query("test", "alter function narthex.event_sequence_away rename to event_sequence")
      yield* emit(org, 1)
      yield* sequenced
      assert.lengthOf((yield* log.window(org, 10)).events, 2)
    })
  )

  it.effect("trimming a busy organization in many parts makes no gap for a quiet one", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const [quiet, busy] = [anOrgId(), anOrgId()]
      yield* emit(quiet, 3)
      yield* sequenced
      const start = (yield* log.window(quiet, 10)).events[0]?.id ?? ""
      yield* emit(busy, 2500)
      yield* sequenced
      assert.isAtLeast(yield* log.trim(farAhead, 3), 2497)
      const latest = yield* log.headOf(busy)

      assert.lengthOf((yield* log.window(quiet, 10)).events, 3)
      assert.deepStrictEqual((yield* log.window(quiet, 10)).floor, Option.none())
      assert.isTrue((yield* log.history(quiet, null, noEvent, 10)).complete)
      assert.isFalse(yield* log.scopeHasBetween(quiet, null, noEvent, noEvent))
      assert.isTrue(yield* log.scopeHasBetween(quiet, null, start, latest))
      assert.isFalse(yield* log.scopeHasBetween(quiet, null, yield* log.headOf(quiet), latest))

      assert.lengthOf((yield* log.window(busy, 10)).events, 3)
      assert.isTrue(Option.isSome((yield* log.window(busy, 10)).floor))
      assert.isFalse((yield* log.history(busy, null, noEvent, 10)).complete)
      assert.strictEqual(yield* log.trim(farAhead, 3), 0)
    })
  )

  it.effect("an old event behind a recent one is not trimmed, so that no hole is left", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const transaction = yield* Transaction
      const org = anOrgId()
      const event = (seconds: number) => ({
        org_id: org,
        project_id: null,
        type: "thing.updated.v1",
        source: "things",
        internal: false,
        data: { seconds },
        region_id: RegionId.make("local"),
        at: at(seconds)
      })
      yield* transaction.run(log.append([event(1), event(100), event(2), event(101)]))
      yield* eventually(
        "all events to be sequenced",
        Effect.map(log.sequence, (state) => state === "idle")
      )
      yield* log.trim(at(50), 0)
      assert.deepStrictEqual(
        (yield* log.window(org, 10)).events.map((it) => it.data["seconds"]),
        [100, 2, 101]
      )
    })
  )

  it.effect("after a change of the timeline every older id gaps once, and the head of a quiet organization moves", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const log = yield* EventLog
      const [old, fresh] = [anOrgId(), anOrgId()]
      yield* emit(old, 3)
      yield* sequenced
      const before = yield* log.headOf(old)
      yield* query("test", "update narthex.event_head set timeline = 'another'")
      yield* emit(fresh, 1)
      yield* sequenced
      const floor = yield* log.headOf(old)
      assert.isAbove(floor.localeCompare(before), 0)
      assert.deepStrictEqual(yield* log.window(old, 10), { events: [], floor: Option.some(floor) })
      assert.isTrue(yield* log.scopeHasBetween(old, null, before, floor))
      assert.isFalse((yield* log.history(old, null, before, 10)).complete)
      assert.isFalse(yield* log.scopeHasBetween(old, null, floor, yield* log.headOf(fresh)))
      assert.isTrue((yield* log.history(old, null, floor, 10)).complete)
      assert.lengthOf((yield* log.window(fresh, 10)).events, 1)
    })
  )
})

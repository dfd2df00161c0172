/** The sequencing function: dense positions, rising ids, mutual exclusion, and a change of the timeline. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { Database, jsonb } from "../src/index.ts"
import { isAwaited, ownBackend } from "./support/observe.ts"
import { PostgresControl } from "./support/PostgresServer.ts"
import { testOwnDatabase } from "./support/TestDatabase.ts"

const org = "0192f0c1-2d3e-7abc-8def-0123456789ab"

interface Logged {
  readonly pos: number
  readonly id: string
  readonly n: number
}

const make = Effect.gen(function* () {
  const { query } = yield* Database
  const emit = (...numbers: ReadonlyArray<number>) =>
    query(
      "test",
      `insert into narthex.event_outbox (org_id, project_id, type, source, region_id, at, internal, data)
       select * from jsonb_to_recordset($1) as x(
         org_id uuid, project_id uuid, type text, source text, region_id text, at timestamptz, internal boolean, data jsonb)`,
      [
        jsonb(
          numbers.map((n) => ({
            org_id: org,
            type: "thing.updated.v1",
            source: "things",
            region_id: "local",
            at: "2026-03-04T05:06:07.089Z",
            internal: false,
            data: { n }
          }))
        )
      ]
    )
  const sequence = (limit: number) =>
    Effect.map(
      query<{ readonly n: number }>("test", "select narthex.event_sequence($1) as n", [limit]),
      ([row]) => row?.n
    )
  const log = query<Logged>("test", "select pos, id, (data->>'n')::int as n from narthex.event_log order by pos")
  const head = Effect.map(
    query<{ readonly trimmed_to: string | null; readonly timeline: string | null }>(
      "test",
      "select trimmed_to, timeline from narthex.event_head"
    ),
    ([row]) => row
  )
  yield* query("test", "truncate narthex.event_outbox, narthex.event_log")
  yield* query(
    "test",
    "update narthex.event_head set pos = 0, ms = 0, r40 = 0, c32 = 0, trimmed_to = null, timeline = null"
  )
  return { emit, sequence, log, head }
})

const ascending = (ids: ReadonlyArray<string>) => assert.deepStrictEqual(ids.toSorted(), [...new Set(ids)])

layer(testOwnDatabase, { excludeTestServices: true })("event_sequence", (it) => {
  it.effect("sequencing moves committed events in the order of their writing, without gaps", () =>
    Effect.gen(function* () {
      const { emit, sequence, log } = yield* make
      assert.strictEqual(yield* sequence(10), 0)
      yield* emit(1, 2, 3)
      yield* emit(4, 5)
      assert.strictEqual(yield* sequence(4), 4)
      assert.strictEqual(yield* sequence(4), 1)
      assert.strictEqual(yield* sequence(4), 0)
      const events = yield* log
      assert.deepStrictEqual(
        events.map(({ pos, n }) => [pos, n]),
        [1, 2, 3, 4, 5].map((n) => [n, n])
      )
      ascending(events.map((event) => event.id))
      for (const { id } of events) assert.match(id, /00$/)
    })
  )

  it.effect("with many writers and sequencers no event is lost, repeated or reordered", () =>
    Effect.gen(function* () {
      const { emit, sequence, log } = yield* make
      const { transaction } = yield* Database
      const writer = (first: number) =>
        Effect.forEach(
          Array.from({ length: 50 }, (_, n) => first + n),
          (n) => transaction(emit(n))
        )
      const writing = yield* Effect.forkChild(
        Effect.forEach([1000, 2000, 3000, 4000], writer, { concurrency: "unbounded" })
      )
      const sequencer = eventually(
        "every event to be sequenced",
        Effect.gen(function* () {
          const written = writing.pollUnsafe() !== undefined
          return (yield* sequence(7)) === 0 && written
        }),
        { every: 0 }
      )
      yield* Effect.all([sequencer, sequencer, sequencer], { concurrency: 3 })
      yield* Fiber.join(writing)
      const events = yield* log
      assert.deepStrictEqual(
        events.map((event) => event.pos),
        Array.from({ length: 200 }, (_, index) => index + 1)
      )
      ascending(events.map((event) => event.id))
      for (const thousand of [1, 2, 3, 4]) {
        const own = events.map((event) => event.n).filter((n) => Math.floor(n / 1000) === thousand)
        assert.deepStrictEqual(
          own,
          Array.from({ length: 50 }, (_, n) => thousand * 1000 + n)
        )
      }
    })
  )

  it.effect("a second sequencer is turned away while the first one runs", () =>
    Effect.gen(function* () {
      const { emit, sequence } = yield* make
      const { transaction } = yield* Database
      yield* emit(1, 2)
      const inside = yield* Deferred.make<number>()
      const leave = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        transaction(
          Effect.gen(function* () {
            const n = yield* sequence(1)
            yield* Deferred.succeed(inside, yield* ownBackend)
            yield* Deferred.await(leave)
            return n
          })
        )
      )
      const backend = yield* Deferred.await(inside)
      const second = yield* Effect.forkChild(sequence(1))
      const hasEnded = () => second.pollUnsafe() !== undefined
      yield* eventually(
        "the second sequencer to end, or to wait for the first one",
        Effect.map(isAwaited(backend), (waits) => waits || hasEnded())
      )
      assert.isTrue(hasEnded(), "the second sequencer does not wait")
      assert.strictEqual(yield* Fiber.join(second), -1)
      yield* Deferred.succeed(leave, undefined)
      assert.strictEqual(yield* Fiber.join(first), 1)
      assert.strictEqual(yield* sequence(1), 1)
    })
  )

  it.effect("sequencing reads a batch by key, even with a plan made for an empty outbox", () =>
    Effect.gen(function* () {
      const { emit, sequence } = yield* make
      const { query, transaction } = yield* Database
      yield* query("test", "analyze narthex.event_outbox")
      const scans = Effect.map(
        query<{ readonly n: number }>(
          "test",
          "select pg_stat_get_xact_numscans('narthex.event_outbox'::regclass) as n"
        ),
        ([row]) => row?.n
      )
      // One session, so one plan.
      yield* transaction(
        Effect.gen(function* () {
          yield* Effect.repeat(Effect.andThen(emit(0), sequence(500)), { times: 10 })
          yield* emit(...Array.from({ length: 20_000 }, (_, n) => n))
          const before = yield* scans
          assert.strictEqual(yield* sequence(500), 500)
          assert.strictEqual(yield* scans, before)
        })
      )
    })
  )

  it.effect("ids continue in the last millisecond when the clock goes back", () =>
    Effect.gen(function* () {
      const { emit, sequence, log } = yield* make
      const { query } = yield* Database
      yield* query("test", "update narthex.event_head set ms = 32503680000000, r40 = 5, c32 = 7")
      yield* emit(1)
      yield* sequence(10)
      const [event] = yield* log
      const [ms, r40, c32] = ["1d8fda4ce000", "0000000005", "00000008"]
      assert.strictEqual(event?.id.replaceAll("-", ""), `${ms}${r40}${c32}00`)
    })
  )

  it.effect("after a promotion every older id is below the floor", () =>
    Effect.gen(function* () {
      const { promote } = yield* PostgresControl
      const { emit, sequence, log, head } = yield* make
      yield* emit(1)
      yield* sequence(10)
      const before = yield* head
      assert.isNull(before?.trimmed_to)
      yield* promote
      yield* emit(2)
      yield* sequence(10)
      const after = yield* head
      assert.notStrictEqual(after?.timeline, before?.timeline)
      const [old, recent] = yield* log
      ascending([old?.id ?? "", after?.trimmed_to ?? "", recent?.id ?? ""])
      yield* emit(3)
      yield* sequence(10)
      assert.deepStrictEqual(yield* head, after)
    })
  )
})

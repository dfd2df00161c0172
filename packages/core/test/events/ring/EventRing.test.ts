import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ProjectId } from "../../../src/Ids.ts"
import type { LoggedEvent } from "../../../src/records/events/Envelope.ts"
import { noEvent } from "../../../src/records/events/EventId.ts"
import { EventRing, type RingLimits } from "../../../src/services/events/ring/EventRing.ts"
import type { RingFilter } from "../../../src/services/events/ring/RingFilter.ts"
import { idAt, logged, otherProject, project } from "../fixtures.ts"

const limits: RingLimits = { events: 1_024, bytes: 1_000_000, event_bytes: 65_536 }
const types = ["a.v1", "b.v1", "c.v1"]

/** One event: which project (0: none), which type (3: internal), how long, and how far after the one before. */
const Row = Schema.Struct({
  project: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
  type: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  length: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3_000 })),
  step: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
})
const Rows = Schema.Array(Row)
const Cap = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 }))
const Kilobytes = Schema.Int.check(Schema.isBetween({ minimum: 4, maximum: 20 }))
const Position = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))

const stated = (rows: typeof Rows.Type): ReadonlyArray<LoggedEvent> => {
  let pos = 0
  return rows.map((row) => {
    pos += row.step
    return logged(pos, {
      project_id: [null, project, otherProject][row.project] ?? null,
      type: types[row.type] ?? "internal.v1",
      internal: row.type === 3,
      data: { text: "x".repeat(row.length) }
    })
  })
}

const wants = (event: LoggedEvent, scope: ProjectId | null, only: ReadonlyArray<string>) =>
  !event.internal && (scope === null || event.project_id === scope) && (only.length === 0 || only.includes(event.type))

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes ?? new Uint8Array())
const idsIn = (written: string) => [...written.matchAll(/^id: (.*)$/gm)].map((found) => found[1] ?? "")

/** Everything from a cursor on, read slice by slice. */
const readAll = (ring: EventRing, from: number, filter: RingFilter, limit: number) => {
  let cursor = from
  let written = ""
  let events = 0
  while (cursor < ring.end) {
    const slice = ring.read(cursor, filter, limit)
    assert.isAbove(slice.to, cursor)
    if (slice.events > 1) assert.isAtMost(slice.bytes?.length ?? 0, limit)
    written += text(slice.bytes)
    events += slice.events
    cursor = slice.to
  }
  assert.strictEqual(idsIn(written).length, events)
  return idsIn(written)
}

const scopes = [null, project, otherProject, ProjectId.make("prj-never")]
const choices = [[], ["a.v1"], ["b.v1", "c.v1"], ["never.v1"]]

describe("a ring", () => {
  it.prop(
    "a ring is the newest part of the log within its limits, for every scope and selection of types",
    [Rows, Cap, Kilobytes, Position],
    ([rows, cap, kilobytes, at]) => {
      const all = stated(rows)
      const ring = new EventRing({ ...limits, events: cap, bytes: kilobytes * 1_000 }, noEvent)
      for (const event of all) assert.strictEqual(ring.append(event), !event.internal)
      const visible = all.filter(({ internal }) => !internal)
      const kept = visible.slice(visible.length - (ring.end - ring.first))
      assert.isAtMost(kept.length, cap)
      assert.strictEqual(ring.lastId, all.at(-1)?.id ?? noEvent)
      assert.strictEqual(ring.evictedId, visible.at(-1 - kept.length)?.id ?? noEvent)
      assert.strictEqual(ring.idBefore(ring.end), ring.lastId)
      assert.isAtMost(ring.bytesFrom(ring.first), kilobytes * 1_000)

      for (const scope of scopes)
        for (const only of choices) {
          const filter = ring.filter(scope, only)
          const wanted = kept.filter((event) => wants(event, scope, only))
          const cursor = ring.cursorAfter(idAt(at))
          const after = wanted.filter((event) => event.id > idAt(at)).map((event) => event.id)
          assert.deepStrictEqual(readAll(ring, cursor, filter, 2_000), after)
          assert.strictEqual(ring.remaining(filter, cursor), after.length)
          assert.strictEqual(ring.total(filter), all.filter((event) => wants(event, scope, only)).length)
          assert.strictEqual(ring.oldest(filter), wanted[0]?.id ?? null)
          ring.release(filter)
        }
      for (const scope of scopes) {
        const gone = visible.slice(0, visible.length - kept.length).filter((event) => wants(event, scope, []))
        assert.strictEqual(
          ring.lostAfter(scope, idAt(at)),
          gone.some((event) => event.id > idAt(at))
        )
      }
    }
  )

  it.prop("a ring loaded from the log equals one that followed it from the start", [Rows, Cap], ([rows, cap]) => {
    const all = stated(rows)
    const visible = all.filter(({ internal }) => !internal)
    const floor = visible.at(-1 - cap)?.id ?? noEvent
    const followed = new EventRing({ ...limits, events: cap }, noEvent)
    for (const event of all) followed.append(event)
    const loaded = new EventRing({ ...limits, events: cap }, floor)
    for (const event of [...visible.slice(-cap), ...all.slice(-1)]) loaded.append(event)
    for (const ring of [followed, loaded]) {
      assert.strictEqual(ring.evictedId, floor)
      assert.strictEqual(ring.lastId, all.at(-1)?.id ?? noEvent)
    }
    assert.deepStrictEqual(
      readAll(loaded, loaded.first, loaded.filter(null, []), 2_000),
      readAll(followed, followed.first, followed.filter(null, []), 2_000)
    )
  })

  it("a ring ignores events that it has", () => {
    const ring = new EventRing(limits, idAt(3))
    assert.isFalse(ring.append(logged(3)))
    assert.isTrue(ring.append(logged(4)))
    assert.isFalse(ring.append(logged(4)))
    assert.strictEqual(ring.end - ring.first, 1)
  })

  it("a ring does not know what was lost before it was made", () => {
    const ring = new EventRing(limits, idAt(10))
    assert.isFalse(ring.knowsLossAfter(null, idAt(9)))
    assert.isTrue(ring.knowsLossAfter(null, idAt(10)))
    assert.isFalse(ring.lostAfter(null, idAt(10)))
  })

  it("a ring releases memory in whole segments, and copies nothing for streams without a filter", () => {
    const ring = new EventRing({ ...limits, events: 100 }, noEvent)
    const filter = ring.filter(null, [])
    for (let pos = 1; pos <= 100; pos++) ring.append(logged(pos))
    const [one, two] = [ring.read(0, filter, 500).bytes, ring.read(2, filter, 500).bytes]
    assert.strictEqual(one?.buffer, two?.buffer)
    const full = ring.memory
    for (let pos = 101; pos <= 5_000; pos++) ring.append(logged(pos))
    assert.isAtMost(ring.memory, full + 2 * 80_000)
    assert.include(text(one), idAt(1)) // bytes that a connection still holds do not change
  })

  it("a ring has frames one behind the other, whatever their characters", () => {
    const ring = new EventRing(limits, noEvent)
    ring.append(logged(1))
    ring.append(logged(2, { data: { text: "é😀" } }))
    const filter = ring.filter(null, [])
    const [one, two] = [ring.read(0, filter, 1).bytes, ring.read(1, filter, 1).bytes]
    assert.include(text(two), "é😀")
    assert.strictEqual(text(ring.read(0, filter, 65_536).bytes), text(one) + text(two))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { noEvent } from "../../../src/records/events/EventId.ts"
import { EventRing, type RingLimits } from "../../../src/services/events/ring/EventRing.ts"
import { idAt, logged, project } from "../fixtures.ts"

const limits: RingLimits = { events: 1_024, bytes: 1_000_000, event_bytes: 65_536 }

const ringOf = (count: number, more: Partial<RingLimits> = {}) => {
  const ring = new EventRing({ ...limits, ...more }, noEvent)
  for (let pos = 1; pos <= count; pos++) ring.append(logged(pos))
  return ring
}

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes ?? new Uint8Array())

describe("the bounds of a ring", () => {
  it("a ring ignores an event that is older than its newest", () => {
    const ring = new EventRing(limits, idAt(3))
    assert.isFalse(ring.append(logged(2)))
    ring.append(logged(5))
    assert.isFalse(ring.append(logged(4)))
    assert.strictEqual(ring.end, 1)
  })

  it("a ring holds as many bytes as its limit, and not one more", () => {
    const both = ringOf(2).bytesFrom(0)
    assert.strictEqual(ringOf(2, { bytes: both }).first, 0)
    assert.strictEqual(ringOf(2, { bytes: both - 1 }).first, 1)
  })

  it("a ring gives each id the cursor of the first entry after it", () => {
    for (const count of [1, 2, 3, 7, 600]) {
      const ring = ringOf(count)
      for (let pos = 0; pos <= count; pos++) assert.strictEqual(ring.cursorAfter(idAt(pos)), pos)
    }
  })

  it("a ring has lost nothing for a client that has the newest evicted event, and something for one before it", () => {
    const ring = ringOf(5, { events: 2 })
    assert.deepStrictEqual(
      [2, 3, 4, 5].map((pos) => ring.lostAfter(null, idAt(pos))),
      [true, false, false, false]
    )
  })

  it("a ring counts no bytes behind its newest entry", () => {
    const ring = ringOf(3)
    assert.strictEqual(ring.bytesFrom(3), 0)
    assert.isAbove(ring.bytesFrom(2), 0)
  })

  it("a ring counts bytes and ids over all segments", () => {
    const ring = ringOf(600)
    const filter = ring.filter(null, [])
    let behind = 0
    for (let cursor = 599; cursor >= 0; cursor--) {
      behind += ring.read(cursor, filter, 1).bytes?.length ?? 0
      assert.strictEqual(ring.bytesFrom(cursor), behind)
      assert.strictEqual(ring.idBefore(cursor + 1), idAt(cursor + 1))
    }
  })

  it("a ring keeps a segment until its last entry is evicted", () => {
    const ring = new EventRing({ ...limits, events: 300 }, noEvent)
    const filter = ring.filter(null, [])
    for (let pos = 1; pos <= 900; pos++) {
      ring.append(logged(pos))
      assert.strictEqual(ring.oldest(filter), idAt(Math.max(1, pos - 299)))
    }
  })

  it("a project's streams get error.v1 with their project_id for an event that is too large", () => {
    const ring = new EventRing({ ...limits, event_bytes: 200 }, noEvent)
    ring.append(logged(1, { data: { text: "x".repeat(500) } }))
    const whole = text(ring.read(0, ring.filter(null, []), 65_536).bytes)
    const narrow = text(ring.read(0, ring.filter(project, []), 65_536).bytes)
    assert.include(whole, "event_too_large")
    assert.notInclude(whole, "project_id")
    assert.include(narrow, `"project_id":"${project}"`)
  })
})

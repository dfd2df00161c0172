import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  eventIdFromBytes,
  eventIdFromUuid,
  eventIdParts,
  eventIdToBytes,
  eventIdToUuid,
  eventPosition,
  makeEventId,
  noEvent,
  overflowId,
  parseLastEventId,
  resumeGapId
} from "../../src/records/events/EventId.ts"

const Parts = Schema.Struct({
  ms: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 1 })),
  r40: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 40 - 1 })),
  c32: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 32 - 1 }))
})
type Parts = typeof Parts.Type
const made = ({ c32, ms, r40 }: Parts) => makeEventId(ms, r40, c32)

describe("an event id", () => {
  it.prop("an event id yields the parts that it was made of", [Parts], ([parts]) => {
    assert.deepStrictEqual(eventIdParts(made(parts)), { ...parts, low: 0 })
    assert.match(made(parts), /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
  })

  it.prop("event ids sort by time, then random bits, then counter", [Parts, Parts], ([a, b]) => {
    const expected = Math.sign(a.ms - b.ms || a.r40 - b.r40 || a.c32 - b.c32)
    assert.strictEqual(made(a) < made(b) ? -1 : made(a) > made(b) ? 1 : 0, expected)
    assert.strictEqual(eventIdToUuid(made(a)) < eventIdToUuid(made(b)) ? -1 : made(a) === made(b) ? 0 : 1, expected)
  })

  it.prop("an event id survives the conversion to bytes and to a UUID", [Parts], ([parts]) => {
    assert.strictEqual(eventIdFromBytes(eventIdToBytes(made(parts))), made(parts))
    assert.strictEqual(eventIdFromUuid(eventIdToUuid(made(parts))), made(parts))
  })

  it.prop("the ids of broker frames lie between an event and the next one", [Parts], ([parts]) => {
    const [id, next] = [made(parts), made({ ...parts, c32: (parts.c32 % (2 ** 32 - 1)) + 1 })]
    assert.isTrue(id < resumeGapId(id) && resumeGapId(id) < overflowId(id))
    if (next > id) assert.isTrue(overflowId(id) < next)
    assert.strictEqual(eventPosition(overflowId(id)), id)
    assert.strictEqual(eventPosition(id), id)
  })

  it("an event id is the one that the database writes for the same parts", () => {
    assert.strictEqual(eventIdToUuid(makeEventId(1, 2, 3)), "00000000-0001-0000-0000-020000000300")
    assert.strictEqual(noEvent, makeEventId(0, 0, 0))
    assert.strictEqual(eventIdFromUuid("ffffffff-ffff-ffff-ffff-ffffffffffff"), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
  })
})

describe("Last-Event-ID", () => {
  it("an absent or empty Last-Event-ID asks for live events", () => {
    assert.deepStrictEqual(parseLastEventId(undefined), { _tag: "Live" })
    assert.deepStrictEqual(parseLastEventId(""), { _tag: "Live" })
  })

  it.each([
    "42",
    "01JXT21QAF0000000700000",
    "01JXT21QAF00000007000000G00",
    "81JXT21QAF0000000700000000",
    "01JXT21QAF00000007000000G\u0000",
    "01JXT21QAF00000007000000GI",
    "01JXT21QAF00000007000000GU",
    "01JXT21QAF00000007000000-0",
    " 01JXT21QAF0000000700000000",
    "01JXT21QAF0000000700000000\n",
    "ſ1JXT21QAF0000000700000000"
  ])("is malformed when it is %j", (header) => {
    assert.deepStrictEqual(parseLastEventId(header), { _tag: "Malformed" })
  })

  it("a Last-Event-ID is read in upper and lower case, and the id of a broker frame is the position before it", () => {
    const id = makeEventId(1_750_000_000_000, 99, 7)
    assert.deepStrictEqual(parseLastEventId(id.toLowerCase()), { _tag: "After", last_event_id: id, position: id })
    assert.deepStrictEqual(parseLastEventId(overflowId(id)), {
      _tag: "After",
      last_event_id: overflowId(id),
      position: id
    })
    assert.deepStrictEqual(parseLastEventId(noEvent), { _tag: "After", last_event_id: noEvent, position: noEvent })
  })
})

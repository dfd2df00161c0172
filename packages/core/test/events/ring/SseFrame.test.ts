import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { RegionId } from "../../../src/Ids.ts"
import { Envelope, EventData, type LoggedEvent, toEnvelope } from "../../../src/records/events/Envelope.ts"
import { encodeEvent, overflowFrame, resumeGapFrame } from "../../../src/services/events/ring/SseFrame.ts"
import { idAt, logged, org, project } from "../fixtures.ts"

const at = DateTime.makeUnsafe("2026-05-01T12:00:00Z")
const scope = { org_id: org, project_id: project, region_id: RegionId.make("eu") }
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

const written = (event: LoggedEvent) => {
  const encoded = encodeEvent(event, 1_000_000)
  return encoded._tag === "Frame" ? text(encoded.bytes) : encoded._tag
}

describe("a frame", () => {
  it.prop("the frame of an event has three lines, and its data is the envelope", [EventData], ([data]) => {
    const event = logged(3, { data })
    const lines = written(event).split("\n")
    assert.deepStrictEqual(lines.slice(0, 2), [`id: ${event.id}`, `event: ${event.type}`])
    assert.deepStrictEqual(lines.slice(3), ["", ""])
    // Pitfall: parsing the line. `JSON.parse` of Node 24.21 reads the key "\u0000" as "\\" after an object with that key.
    assert.strictEqual(lines[2], `data: ${Schema.encodeSync(Schema.fromJsonString(Envelope))(toEnvelope(event))}`)
  })

  it.each(["a\nb\r\nc", "\u2028", "\ud800", "\u0000", "id: 0\n\n"])(
    "the frame of an event is not broken by %j",
    (text) => {
      assert.lengthOf(written(logged(1, { data: { text } })).split(/\r\n|\r|\n/), 5)
    }
  )

  it.each(["x", "x.v1\ndata: {}", "X.v1", ".v1", "a..v1", "", "a b.v1"])(
    "an event of a type like %j has no frame",
    (type) => {
      assert.strictEqual(written(logged(1, { type })), "Poison")
    }
  )

  it("the frame of an event has no more bytes than allowed, chunk framing included", () => {
    const size = written(logged(1)).length
    assert.strictEqual(encodeEvent(logged(1), size)._tag, "Frame")
    assert.strictEqual(encodeEvent(logged(1), size - 1)._tag, "Poison")
  })
})

describe("the broker's own frames", () => {
  const common = `"source":"_broker","org_id":"${org}","project_id":"${project}","region_id":"eu","at":"2026-05-01T12:00:00.000Z"`

  it("the bytes of resume.gap.v1 are fixed", () => {
    const gap = { reason: "too_old", last_event_id: idAt(1), oldest_id: idAt(3), latest_id: idAt(5) } as const
    const id = `${idAt(5).slice(0, 25)}1`
    assert.strictEqual(
      text(resumeGapFrame(scope, at, gap)),
      `id: ${id}\nevent: resume.gap.v1\ndata: {"id":"${id}","type":"resume.gap.v1",${common},"data":{"reason":"too_old","last_event_id":"${idAt(1)}","oldest_id":"${idAt(3)}","latest_id":"${idAt(5)}","history_url":"/v1/projects/prj-1/events/history?after=${idAt(1)}"}}\n\n`
    )
  })

  it("the bytes of overflow.v1 are fixed", () => {
    const id = `${idAt(5).slice(0, 25)}2`
    assert.strictEqual(
      text(overflowFrame(scope, at, 12, idAt(5))),
      `id: ${id}\nevent: overflow.v1\ndata: {"id":"${id}","type":"overflow.v1",${common},"data":{"dropped":12,"latest_id":"${idAt(5)}"}}\n\n`
    )
  })

  it("the bytes of error.v1 are fixed", () => {
    const encoded = encodeEvent(logged(5, { type: "no" }), 1_000)
    assert.isTrue(encoded._tag === "Poison" && encoded.project !== undefined)
    if (encoded._tag !== "Poison") return
    assert.strictEqual(
      text(encoded.project ?? new Uint8Array()),
      `id: ${idAt(5)}\nevent: error.v1\ndata: {"id":"${idAt(5)}","type":"error.v1",${common.replace('"eu"', '"local"')},"data":{"code":"event_unencodable","message":"An event here could not be written. Fetch the current state."}}\n\n`
    )
  })
})

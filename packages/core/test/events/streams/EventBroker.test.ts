import { assert, describe, it } from "@effect/vitest"
import { OrgId } from "../../../src/Ids.ts"
import { allowlistChanged } from "../../../src/records/allowlist/AllowlistChange.ts"
import type { LoggedEvent } from "../../../src/records/events/Envelope.ts"
import { noEvent, overflowId, resumeGapId } from "../../../src/records/events/EventId.ts"
import { idAt, logged, makeTestBroker, org, otherProject, principal, project } from "../fixtures.ts"

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const events = (from: number, to: number): Array<LoggedEvent> => range(from, to).map((pos) => logged(pos))
const ids = (...positions: ReadonlyArray<number>) => positions.map(idAt)

describe("a stream", () => {
  it("a stream starts with a comment, then sends events as id, event and data lines", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    load()
    const { sink } = connect()
    assert.strictEqual(sink.text, ": ok\n")
    feed.deliver([logged(1), logged(2, { project_id: null, data: { text: "a\nb" } })])
    loop.advance(0)
    const rest = `"region_id":"local","at":"2026-05-01T12:00:00.000Z"`
    assert.strictEqual(
      sink.text,
      [
        ": ok",
        `id: ${idAt(1)}`,
        "event: operation.updated.v1",
        `data: {"id":"${idAt(1)}","type":"operation.updated.v1","source":"operations","org_id":"${org}","project_id":"${project}",${rest},"data":{"n":1}}`,
        "",
        `id: ${idAt(2)}`,
        "event: operation.updated.v1",
        `data: {"id":"${idAt(2)}","type":"operation.updated.v1","source":"operations","org_id":"${org}",${rest},"data":{"text":"a\\nb"}}`,
        "",
        ""
      ].join("\n")
    )
  })

  it("a stream sends the events of one turn as one write, and shares the bytes with streams at the same position", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    load()
    const [a, b] = [connect(), connect()]
    feed.deliver(events(1, 3))
    feed.deliver(events(4, 5))
    loop.advance(0)
    assert.lengthOf(a.sink.writes, 2)
    assert.deepStrictEqual(a.sink.ids, ids(1, 2, 3, 4, 5))
    assert.strictEqual(a.sink.writes[1]?.buffer, b.sink.writes[1]?.buffer)
    assert.strictEqual(a.sink.writes[1], b.sink.writes[1])
  })

  it("a stream sends events of its project and of the requested types only", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    load()
    const access = { org_id: org, project_id: project, principal: principal() }
    const narrow = connect({ access, types: ["wanted.v1"] })
    const wide = connect({ access })
    feed.deliver([
      logged(1),
      logged(2, { type: "wanted.v1" }),
      logged(3, { type: "wanted.v1", project_id: otherProject }),
      logged(4, { project_id: null }),
      logged(5, allowlistChanged(org, { project_id: project, version: 3 })),
      logged(6, { type: "wanted.v1" })
    ])
    loop.advance(0)
    assert.deepStrictEqual(narrow.sink.ids, ids(2, 6))
    assert.deepStrictEqual(wide.sink.ids, ids(1, 2, 6))
  })

  it("a stream replays everything after an id, in slices, until it has caught up", () => {
    const { connect, feed, load, loop } = makeTestBroker({ slice_bytes: 700, yield_writes: 2 })
    feed.restart(9)
    load(events(1, 9))
    const { sink } = connect({}, { _tag: "After", position: idAt(2) })
    loop.advance(0)
    assert.deepStrictEqual(sink.ids, ids(3, 4, 5, 6, 7, 8, 9))
    for (const write of sink.writes) assert.isAtMost(write.length, 700)
    assert.isAbove(sink.writes.length, 3)
  })

  it("a flush yields after its budget of writes", () => {
    const { connect, feed, load, loop } = makeTestBroker({ yield_writes: 3 })
    load()
    const sinks = range(1, 8).map(() => connect().sink)
    feed.deliver([logged(1)])
    const served: Array<number> = []
    const look = () => {
      served.push(sinks.filter((sink) => sink.ids.length === 1).length)
      if (served.length < 4) loop.soon(look)
    }
    loop.soon(look)
    loop.advance(0)
    assert.isTrue(served.some((count) => count > 0 && count < 8))
    assert.strictEqual(sinks.filter((sink) => sink.ids.length === 1).length, 8)
  })

  it("a stream that drains during a pass over the others gets its remaining events", () => {
    const { connect, feed, load, loop } = makeTestBroker({ yield_writes: 1, slice_bytes: 1 })
    load()
    const [slow] = [connect(), connect(), connect()]
    slow.sink.full = true
    for (const pos of range(1, 4)) {
      feed.deliver([logged(pos)])
      loop.advance(0)
    }
    feed.deliver([logged(5)])
    loop.soon(() => slow.sink.drain()) // the pass has gone by it already
    loop.advance(0)
    assert.deepStrictEqual(slow.sink.ids, ids(...range(1, 5)))
  })

  it("organizations are flushed in turns within one budget", () => {
    const { connect, feed, load, loop } = makeTestBroker({ yield_writes: 2 })
    const orgs = range(1, 9).map((n) => OrgId.make(`org-${n}`))
    const sinks = orgs.map((of) => {
      load([], undefined, of)
      return connect({ access: { org_id: of, project_id: null, principal: principal() } }).sink
    })
    feed.deliver(orgs.map((org_id, index) => logged(index + 1, { org_id })))
    const served: Array<number> = []
    const look = () => {
      served.push(sinks.filter((sink) => sink.ids.length === 1).length)
      if (served.length < 8) loop.soon(look)
    }
    loop.soon(look)
    loop.advance(0)
    assert.isTrue(served.some((count) => count > 0 && count < 9))
    assert.strictEqual(sinks.filter((sink) => sink.ids.length === 1).length, 9)
  })

  it("a burst larger than the ring does not drop a reader that keeps up", () => {
    const { connect, feed, load, loop } = makeTestBroker({ ring_events: 8 })
    load()
    const { sink, stream } = connect()
    feed.deliver(events(1, 50))
    loop.advance(0)
    assert.deepStrictEqual(sink.ids, ids(...range(1, 50)))
    assert.isUndefined(stream.ended)
  })

  it("a stream waits while its connection is full, and resumes where it stopped", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    load()
    const { sink } = connect()
    sink.full = true
    feed.deliver(events(1, 2))
    loop.advance(0)
    feed.deliver(events(3, 6))
    loop.advance(1_000)
    assert.deepStrictEqual(sink.ids, ids(1, 2))
    sink.drain()
    assert.deepStrictEqual(sink.ids, ids(1, 2, 3, 4, 5, 6))
  })
})

describe("a reader that is too slow", () => {
  it("a reader that falls off the ring gets the number of lost events", () => {
    const { connect, feed, load, loop } = makeTestBroker({ ring_events: 4 })
    load()
    const access = { org_id: org, project_id: project, principal: principal() }
    const { sink, stream } = connect({ access })
    sink.full = true
    feed.deliver(events(1, 1))
    loop.advance(0)
    feed.deliver([...events(2, 3), logged(4, { project_id: otherProject }), logged(5)])
    loop.advance(0)
    assert.isUndefined(stream.ended)
    feed.deliver([logged(6)])
    loop.advance(0)
    assert.strictEqual(stream.ended, "overflow")
    assert.deepStrictEqual(sink.data("overflow.v1"), { dropped: 4, latest_id: idAt(6) })
    assert.strictEqual(sink.ids.at(-1), overflowId(idAt(6)))
    assert.include(sink.text, `"source":"_broker","org_id":"${org}","project_id":"${project}"`)
    assert.isTrue(sink.ended)
    assert.isFalse(sink.destroyed)
    loop.advance(6_100)
    assert.isTrue(sink.destroyed)
  })

  it("a reader that takes nothing for the stall timeout is dropped, and not before", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    load()
    const { sink, stream } = connect()
    sink.full = true
    feed.deliver(events(1, 1))
    loop.advance(0)
    loop.advance(29_000)
    assert.isUndefined(stream.ended)
    loop.advance(2_500)
    assert.strictEqual(stream.ended, "overflow")
    assert.deepStrictEqual(sink.data("overflow.v1"), { dropped: 0, latest_id: idAt(1) })
  })

  it("a reader that lags more events than allowed is dropped", () => {
    const { connect, feed, load, loop } = makeTestBroker({ max_lag_events: 3 })
    load()
    const { sink, stream } = connect()
    sink.full = true
    feed.deliver(events(1, 1))
    loop.advance(0)
    feed.deliver(events(2, 4))
    loop.advance(0)
    assert.isUndefined(stream.ended)
    feed.deliver(events(5, 5))
    loop.advance(0)
    assert.deepStrictEqual(sink.data("overflow.v1"), { dropped: 4, latest_id: idAt(5) })
  })
})

describe("an event that cannot be sent", () => {
  it("an event that cannot be sent becomes error.v1 in its place, whatever types were requested", () => {
    const { connect, feed, load, loop } = makeTestBroker({ event_bytes: 2_000 })
    load()
    const org_wide = connect({ types: ["nothing.v1"] })
    const narrow = connect({ access: { org_id: org, project_id: project, principal: principal() } })
    feed.deliver([logged(1, { data: { large: "x".repeat(3_000) } }), logged(2, { type: "two\nlines" }), logged(3)])
    loop.advance(0)
    assert.deepStrictEqual(org_wide.sink.ids, ids(1, 2))
    assert.deepStrictEqual(narrow.sink.ids, ids(1, 2, 3))
    assert.deepStrictEqual(org_wide.sink.data("error.v1"), {
      code: "event_unencodable",
      message: "An event here could not be written. Fetch the current state."
    })
    assert.include(narrow.sink.text, "event_too_large")
    assert.include(narrow.sink.text, `"project_id":"${project}"`)
    assert.notInclude(org_wide.sink.text, "project_id")
  })
})

describe("bookmarks", () => {
  it("bookmarks carry the position at once and with heartbeats", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    load([], idAt(4))
    const access = { org_id: org, project_id: project, principal: principal() }
    const { sink } = connect({ access, bookmarks: true })
    assert.match(sink.text, new RegExp(`^: ok\nretry: \\d+\n\nid: ${idAt(4)}\n\n$`))
    feed.deliver([logged(5, { project_id: otherProject })])
    loop.advance(20_000)
    assert.isTrue(sink.text.endsWith(`:\nid: ${idAt(5)}\n\n`))
    loop.advance(20_000)
    assert.isTrue(sink.text.endsWith(`id: ${idAt(5)}\n\n:\n`))
  })

  it("the bookmark of an organization without events is the zero id", () => {
    const { connect, load } = makeTestBroker()
    load()
    assert.include(connect({ bookmarks: true }).sink.text, `id: ${noEvent}\n\n`)
  })

  it("a stream without bookmarks gets none", () => {
    const { connect, load, loop } = makeTestBroker()
    load()
    const { sink } = connect()
    loop.advance(20_000)
    assert.strictEqual(sink.text, ": ok\n:\n")
  })
})

describe("a gap", () => {
  it("a gap replaces the replay, and the stream continues from the head", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    feed.restart(5)
    load(events(3, 5), idAt(2))
    const { sink } = connect({}, { _tag: "Gap", reason: "too_old", last_event_id: idAt(1) })
    assert.deepStrictEqual(sink.ids, [resumeGapId(idAt(5))])
    assert.deepStrictEqual(sink.data("resume.gap.v1"), {
      reason: "too_old",
      last_event_id: idAt(1),
      oldest_id: idAt(3),
      latest_id: idAt(5),
      history_url: `/v1/events/history?after=${idAt(1)}`
    })
    feed.deliver(events(6, 6))
    loop.advance(0)
    assert.deepStrictEqual(sink.ids, [resumeGapId(idAt(5)), idAt(6)])
  })

  it("a gap for a malformed id names no last_event_id", () => {
    const { connect, load } = makeTestBroker()
    load()
    const access = { org_id: org, project_id: project, principal: principal() }
    const { sink } = connect({ access }, { _tag: "Gap", reason: "malformed", last_event_id: null })
    assert.deepStrictEqual(sink.data("resume.gap.v1"), {
      reason: "malformed",
      last_event_id: null,
      oldest_id: null,
      latest_id: noEvent,
      history_url: `/v1/projects/${project}/events/history`
    })
  })
})

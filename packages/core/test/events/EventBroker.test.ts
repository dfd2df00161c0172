import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Result } from "effect"
import type { LoggedEvent } from "../../src/events/Envelope.ts"
import { noEvent, resumeGapId } from "../../src/events/EventId.ts"
import { allowlistChanged, apiKeyRevoked, membershipRevoked } from "../../src/events/Revocations.ts"
import { ApiKeyId, OrgId, UserId } from "../../src/Ids.ts"
import { ada, idAt, logged, makeTestBroker, org, otherProject, principal, project, TestSink } from "./fixtures.ts"

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const events = (from: number, to: number): Array<LoggedEvent> => range(from, to).map((pos) => logged(pos))
const ids = (...positions: ReadonlyArray<number>) => positions.map(idAt)

describe("a stream", () => {
  it("greets, and then shows what comes, as the specification frames it", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    load()
    const { sink } = connect()
    assert.strictEqual(sink.text, ": ok\n")
    broker.deliver([logged(1), logged(2, { project_id: null, data: { text: "a\nb" } })])
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

  it("gets the events of one turn as one write, and shares its bytes with all who stand there", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    load()
    const [a, b] = [connect(), connect()]
    broker.deliver(events(1, 3))
    broker.deliver(events(4, 5))
    loop.advance(0)
    assert.lengthOf(a.sink.writes, 2)
    assert.deepStrictEqual(a.sink.ids, ids(1, 2, 3, 4, 5))
    assert.strictEqual(a.sink.writes[1]?.chunked.buffer, b.sink.writes[1]?.chunked.buffer)
    assert.strictEqual(a.sink.writes[1], b.sink.writes[1])
  })

  it("shows one project alone, and the types that were asked for", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    load()
    const access = { org_id: org, project_id: project, principal: principal() }
    const narrow = connect({ access, types: ["wanted.v1"] })
    const wide = connect({ access })
    broker.deliver([
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

  it("replays everything after an id, in slices, until it is caught up", () => {
    const { connect, load, loop } = makeTestBroker({ sliceBytes: 700, yieldWrites: 2 })
    const { broker } = { broker: undefined }
    assert.isUndefined(broker)
    load()
    const world = makeTestBroker({ sliceBytes: 700, yieldWrites: 2 })
    world.broker.restart(9)
    world.load(events(1, 9))
    const { sink } = world.connect({}, { _tag: "After", id: idAt(2) })
    world.loop.advance(0)
    assert.deepStrictEqual(sink.ids, ids(3, 4, 5, 6, 7, 8, 9))
    for (const write of sink.writes) assert.isAtMost(write.chunked.length, 700)
    assert.isAbove(sink.writes.length, 3)
    loop.advance(0)
    assert.strictEqual(connect().sink.text, ": ok\n")
  })

  it("lets others have their turn after so many writes", () => {
    const { broker, connect, load, loop } = makeTestBroker({ yieldWrites: 3 })
    load()
    const sinks = range(1, 8).map(() => connect().sink)
    broker.deliver([logged(1)])
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

  it("is not dropped by a burst that is larger than the ring, when it keeps up", () => {
    const { broker, connect, load, loop } = makeTestBroker({ ringEvents: 8 })
    load()
    const { sink, stream } = connect()
    broker.deliver(events(1, 50))
    loop.advance(0)
    assert.deepStrictEqual(sink.ids, ids(...range(1, 50)))
    assert.isUndefined(stream.ended)
  })

  it("waits while its connection is full, and goes on where it was", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    load()
    const { sink } = connect()
    sink.full = true
    broker.deliver(events(1, 2))
    loop.advance(0)
    broker.deliver(events(3, 6))
    loop.advance(1_000)
    assert.deepStrictEqual(sink.ids, ids(1, 2))
    sink.drain()
    assert.deepStrictEqual(sink.ids, ids(1, 2, 3, 4, 5, 6))
  })
})

describe("a reader that is too slow", () => {
  const overflowed = { data: { dropped: 0, latest_id: "" } }

  it("is told how many events it lost when it falls off the ring", () => {
    const { broker, connect, load, loop } = makeTestBroker({ ringEvents: 4 })
    load()
    const access = { org_id: org, project_id: project, principal: principal() }
    const { sink, stream } = connect({ access })
    sink.full = true
    broker.deliver(events(1, 1))
    loop.advance(0)
    broker.deliver([...events(2, 4), logged(5, { project_id: otherProject }), ...events(6, 9)])
    loop.advance(0)
    assert.strictEqual(stream.ended, "overflow")
    assert.deepStrictEqual(sink.data("overflow.v1"), { ...overflowed.data, dropped: 7, latest_id: idAt(9) })
    assert.strictEqual(sink.ids.at(-1)?.slice(0, 24), idAt(9).slice(0, 24))
    assert.include(sink.text, `"source":"_broker","org_id":"${org}","project_id":"${project}"`)
    assert.isTrue(sink.ended)
    assert.isFalse(sink.destroyed)
    loop.advance(6_100)
    assert.isTrue(sink.destroyed)
  })

  it("is dropped when it takes nothing for the stall timeout, and not before", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    load()
    const { sink, stream } = connect()
    sink.full = true
    broker.deliver(events(1, 1))
    loop.advance(0)
    loop.advance(29_000)
    assert.isUndefined(stream.ended)
    loop.advance(2_500)
    assert.strictEqual(stream.ended, "overflow")
    assert.deepStrictEqual(sink.data("overflow.v1"), { dropped: 0, latest_id: idAt(1) })
  })

  it("is dropped when it is further behind than allowed", () => {
    const { broker, connect, load, loop } = makeTestBroker({ maxLagEvents: 3 })
    load()
    const { sink, stream } = connect()
    sink.full = true
    broker.deliver(events(1, 1))
    loop.advance(0)
    broker.deliver(events(2, 4))
    loop.advance(0)
    assert.isUndefined(stream.ended)
    broker.deliver(events(5, 5))
    loop.advance(0)
    assert.deepStrictEqual(sink.data("overflow.v1"), { dropped: 4, latest_id: idAt(5) })
  })
})

describe("an event that cannot be sent", () => {
  it("is told as error.v1 in its place, whatever types were asked for", () => {
    const { broker, connect, load, loop } = makeTestBroker({ eventBytes: 2_000 })
    load()
    const org_wide = connect({ types: ["nothing.v1"] })
    const narrow = connect({ access: { org_id: org, project_id: project, principal: principal() } })
    broker.deliver([logged(1, { data: { large: "x".repeat(3_000) } }), logged(2, { type: "two\nlines" }), logged(3)])
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
  it("tell the position at once and with heartbeats, to those who asked", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    load([], idAt(4))
    const access = { org_id: org, project_id: project, principal: principal() }
    const { sink } = connect({ access, bookmarks: true })
    assert.match(sink.text, new RegExp(`^: ok\nretry: \\d+\n\nid: ${idAt(4)}\n\n$`))
    broker.deliver([logged(5, { project_id: otherProject })])
    loop.advance(20_000)
    assert.isTrue(sink.text.endsWith(`:\nid: ${idAt(5)}\n\n`))
    loop.advance(20_000)
    assert.isTrue(sink.text.endsWith(`id: ${idAt(5)}\n\n:\n`))
  })

  it("stand at zero for an organization without events", () => {
    const { connect, load } = makeTestBroker()
    load()
    assert.include(connect({ bookmarks: true }).sink.text, `id: ${noEvent}\n\n`)
  })

  it("are not sent to others", () => {
    const { connect, load, loop } = makeTestBroker()
    load()
    const { sink } = connect()
    loop.advance(20_000)
    assert.strictEqual(sink.text, ": ok\n:\n")
  })
})

describe("a gap", () => {
  it("is told instead of a replay, and the stream goes on from the head", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    broker.restart(5)
    load(events(3, 5), idAt(2))
    const { sink } = connect({}, { _tag: "Gap", reason: "too_old", supplied: idAt(1) })
    assert.deepStrictEqual(sink.ids, [resumeGapId(idAt(5))])
    assert.deepStrictEqual(sink.data("resume.gap.v1"), {
      reason: "too_old",
      last_event_id: idAt(1),
      oldest_id: idAt(3),
      latest_id: idAt(5),
      history_url: `/v1/events/history?after=${idAt(1)}`
    })
    broker.deliver(events(6, 6))
    loop.advance(0)
    assert.deepStrictEqual(sink.ids, [resumeGapId(idAt(5)), idAt(6)])
  })

  it("names no position that was not one", () => {
    const { connect, load } = makeTestBroker()
    load()
    const access = { org_id: org, project_id: project, principal: principal() }
    const { sink } = connect({ access }, { _tag: "Gap", reason: "malformed", supplied: null })
    assert.deepStrictEqual(sink.data("resume.gap.v1"), {
      reason: "malformed",
      last_event_id: null,
      oldest_id: null,
      latest_id: noEvent,
      history_url: `/v1/projects/${project}/events/history`
    })
  })
})

describe("a revocation", () => {
  const key = ApiKeyId.make("key-1")

  it("lets through what came before it, and nothing behind it", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    load()
    const theirs = connect({ access: { org_id: org, project_id: null, principal: principal({ api_key_id: key }) } })
    const others = connect()
    broker.deliver([logged(1), logged(2, apiKeyRevoked(org, key)), logged(3)])
    loop.advance(0)
    assert.deepStrictEqual(theirs.sink.ids, ids(1))
    assert.isTrue(theirs.sink.text.endsWith(": closing reason=revoked\n"))
    assert.strictEqual(theirs.stream.ended, "revoked")
    assert.deepStrictEqual(others.sink.ids, ids(1, 3))
  })

  it("reaches a client that is still on its way, which then learns nothing", () => {
    const { admit, broker, load } = makeTestBroker()
    load()
    const admission = admit()
    broker.deliver([logged(1), logged(2, membershipRevoked(org, ada))])
    const sink = new TestSink()
    const options = { access: admission.access, expires_at: null, types: [], bookmarks: true }
    broker.attach(admission, options, { _tag: "After", id: noEvent }, () => sink)
    assert.strictEqual(sink.text, ": ok\n: closing reason=revoked\n")
  })

  it("acts before the events behind it, even when a ring was loaded from beyond it", () => {
    const { broker, connect, load, loop } = makeTestBroker()
    const rows = [logged(1), logged(2), logged(3, membershipRevoked(org, ada)), logged(4)]
    broker.restart(2)
    load(rows)
    const { sink } = connect({}, { _tag: "After", id: noEvent })
    assert.deepStrictEqual(sink.ids, ids(1, 2))
    broker.deliver(rows.slice(2))
    loop.advance(0)
    assert.deepStrictEqual(sink.ids, ids(1, 2))
    assert.isTrue(sink.ended)
  })

  it("that cannot be read ends every stream", () => {
    const { broker, connect, load } = makeTestBroker()
    load()
    const { stream } = connect()
    broker.deliver([logged(1, { type: "internal.revoked.v1", internal: true, data: { planet: "earth" } })])
    assert.strictEqual(stream.ended, "revoked")
  })
})

describe("the end of a stream", () => {
  it("comes before its credential ends", () => {
    const { connect, load, loop } = makeTestBroker()
    load()
    const { sink } = connect({ expires_at: DateTime.makeUnsafe(loop.now + 60_000), bookmarks: true })
    loop.advance(54_000)
    assert.isFalse(sink.ended)
    loop.advance(2_000)
    assert.match(sink.text, /id: 0{26}\n\nretry: \d+\n\n: closing reason=token_expired\n$/)
    assert.isTrue(sink.ended)
  })

  it("comes at 80 to 100 % of the greatest age", () => {
    const { connect, load, loop } = makeTestBroker({ maxAge: Duration.minutes(10) })
    load()
    const sinks = range(1, 20).map(() => connect().sink)
    loop.advance(479_000)
    assert.isFalse(sinks.some((sink) => sink.ended))
    loop.advance(60_000)
    assert.isTrue(sinks.some((sink) => sink.ended) && sinks.some((sink) => !sink.ended))
    loop.advance(63_000)
    assert.isTrue(sinks.every((sink) => sink.text.endsWith(": closing reason=max_age\n")))
  })

  it("is told once, when the connection is gone", () => {
    const { broker, connect, load } = makeTestBroker()
    load()
    const { sink, stream } = connect()
    const reasons: Array<string> = []
    stream.onGone((reason) => reasons.push(reason))
    sink.close()
    sink.close()
    assert.deepStrictEqual(reasons, ["client_gone"])
    assert.deepStrictEqual(broker.streams(), [])
  })
})

describe("limits", () => {
  const limits = { streams: 2, orgStreams: 3, instanceStreams: 4, opens: 3 }
  const refusal = (broker: ReturnType<typeof makeTestBroker>["broker"], user: string, of = org) => {
    const access = { org_id: of, project_id: null, principal: principal({ user_id: UserId.make(user) }) }
    return Result.match(broker.admit(access), { onSuccess: () => "admitted", onFailure: ({ limit }) => limit })
  }

  it("count per principal, organization and instance", () => {
    const { broker } = makeTestBroker({ limits })
    const elsewhere = OrgId.make("elsewhere")
    assert.deepStrictEqual(
      [
        refusal(broker, "a"),
        refusal(broker, "a"),
        refusal(broker, "a"),
        refusal(broker, "b"),
        refusal(broker, "c"),
        refusal(broker, "c", elsewhere),
        refusal(broker, "d", elsewhere)
      ],
      ["admitted", "admitted", "principal", "admitted", "organization", "admitted", "instance"]
    )
  })

  it("count how often one principal opens, by the second", () => {
    const { broker, loop } = makeTestBroker({ limits: { ...limits, streams: 100, orgStreams: 100, instanceStreams: 100 } })
    assert.deepStrictEqual(
      range(1, 4).map(() => refusal(broker, "a")),
      ["admitted", "admitted", "admitted", "opens"]
    )
    loop.advance(1_000)
    assert.strictEqual(refusal(broker, "a"), "admitted")
  })

  it("give a place back when a stream or an admission ends", () => {
    const { admit, broker, connect, load } = makeTestBroker({ limits: { ...limits, streams: 1, opens: 100 } })
    load()
    admit().cancel()
    connect().sink.close()
    assert.strictEqual(refusal(broker, ada), "admitted")
  })
})

describe("memory", () => {
  it("is kept by giving up rings that nobody reads, the least used first", () => {
    const { broker, connect, load, loop } = makeTestBroker({ ringsBytes: 60_000 })
    const orgs = ["a", "b", "c", "d"].map((name) => OrgId.make(name))
    const reader = principal()
    for (const of of orgs) {
      load([logged(1, { org_id: of })], undefined, of)
      broker.deliver([logged(1, { org_id: of })])
      const { sink } = connect({ access: { org_id: of, project_id: null, principal: reader } })
      loop.advance(10)
      if (of !== orgs[0]) sink.close()
    }
    loop.advance(2_000)
    assert.deepStrictEqual(
      orgs.map((of) => broker.ring(of) !== undefined),
      [true, false, false, true]
    )
  })
})

/** Holds docs/design/events.md E7. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Metric, Result, Schema } from "effect"
import { ApiKeyId, OrgId, UserId } from "../../../src/Ids.ts"
import { noEvent } from "../../../src/records/events/EventId.ts"
import { apiKeyRevoked, membershipRevoked } from "../../../src/records/events/InternalEvents.ts"
import { streamMetrics } from "../../../src/services/events/streams/StreamMetrics.ts"
import { ada, idAt, logged, makeTestBroker, org, principal, streamOptions } from "../fixtures.ts"

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const ids = (...positions: ReadonlyArray<number>) => positions.map(idAt)

describe("a revocation", () => {
  const key = ApiKeyId.make("key-1")

  it("a revocation lets earlier events through, and no later ones", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    load()
    const theirs = connect({ access: { org_id: org, project_id: null, principal: principal({ api_key_id: key }) } })
    const others = connect()
    feed.deliver([logged(1), logged(2, apiKeyRevoked(org, key)), logged(3)])
    loop.advance(0)
    assert.deepStrictEqual(theirs.sink.ids, ids(1))
    assert.isTrue(theirs.sink.text.endsWith(": closing reason=revoked\n"))
    assert.strictEqual(theirs.stream.ended, "revoked")
    assert.deepStrictEqual(others.sink.ids, ids(1, 3))
  })

  it("a revocation reaches a client that is being admitted, which then learns nothing", () => {
    const { admit, attach, feed, load } = makeTestBroker()
    load()
    const admission = admit({ bookmarks: true })
    feed.deliver([logged(1), logged(2, membershipRevoked(org, ada))])
    const { sink } = attach(admission, { _tag: "After", position: noEvent })
    assert.strictEqual(sink.text, ": ok\n: closing reason=revoked\n")
  })

  it("a revocation acts before later events, even if the ring was loaded from beyond it", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    const rows = [logged(1), logged(2), logged(3, membershipRevoked(org, ada)), logged(4)]
    feed.restart(2)
    load(rows)
    const { sink } = connect({}, { _tag: "After", position: noEvent })
    assert.deepStrictEqual(sink.ids, ids(1, 2))
    feed.deliver(rows.slice(2))
    loop.advance(0)
    assert.deepStrictEqual(sink.ids, ids(1, 2))
    assert.isTrue(sink.ended)
  })

  it("a revocation that cannot be decoded ends every stream", () => {
    const { connect, feed, load } = makeTestBroker()
    load()
    const { stream } = connect()
    feed.deliver([logged(1, { type: "internal.revoked.v1", internal: true, data: { planet: "earth" } })])
    assert.strictEqual(stream.ended, "revoked")
  })
})

describe("the end of a stream", () => {
  it("a stream ends before its credential expires", () => {
    const { connect, load, loop } = makeTestBroker()
    load()
    const { sink } = connect({ expires_at: DateTime.makeUnsafe(loop.now + 60_000), bookmarks: true })
    loop.advance(54_000)
    assert.isFalse(sink.ended)
    loop.advance(2_000)
    assert.match(sink.text, /id: 0{26}\n\nretry: \d+\n\n: closing reason=token_expired\n$/)
    assert.isTrue(sink.ended)
  })

  it("a stream whose deadline passed while the machine slept ends before the next event", () => {
    const { connect, feed, load, loop } = makeTestBroker()
    load()
    const { sink } = connect({ expires_at: DateTime.makeUnsafe(loop.now + 60_000) })
    feed.deliver([logged(1)])
    loop.advance(0)
    loop.now += 3_600_000
    feed.deliver([logged(2)])
    loop.advance(0)
    assert.deepStrictEqual(sink.ids, ids(1))
    assert.match(sink.text, /: closing reason=token_expired\n$/)
  })

  it("a client whose credential expired during admission is shown nothing", () => {
    const { connect, load, loop } = makeTestBroker()
    load([logged(1)])
    const options = { expires_at: DateTime.makeUnsafe(loop.now), bookmarks: true }
    const { sink } = connect(options, { _tag: "Gap", reason: "too_old", last_event_id: idAt(0) })
    assert.strictEqual(sink.text, ": ok\n: closing reason=token_expired\n")
  })

  it("the end of a stream does not move a client past events that its ring has lost", () => {
    const { connect, feed, load, loop } = makeTestBroker({ ring_events: 2 })
    load()
    const { sink, stream } = connect({ bookmarks: true })
    sink.full = true
    feed.deliver([logged(1)])
    loop.advance(0)
    feed.deliver([2, 3, 4].map((pos) => logged(pos)))
    stream.end("draining")
    const told = [...sink.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
    assert.deepStrictEqual(told, [noEvent, idAt(1)])
    assert.match(sink.text, /: closing reason=draining\n$/)
  })

  it("a stream ends at 80 to 100 % of the maximum age", () => {
    const { connect, load, loop } = makeTestBroker({ max_age: Duration.minutes(10) })
    load()
    const sinks = range(1, 20).map(() => connect().sink)
    loop.advance(479_000)
    assert.isFalse(sinks.some((sink) => sink.ended))
    loop.advance(60_000)
    assert.isTrue(sinks.some((sink) => sink.ended) && sinks.some((sink) => !sink.ended))
    loop.advance(63_000)
    assert.isTrue(sinks.every((sink) => sink.text.endsWith(": closing reason=max_age\n")))
  })

  it("the end of a stream is reported once, when the connection is gone", () => {
    const { broker, connect, load } = makeTestBroker()
    load()
    const { sink, stream } = connect()
    const reasons: Array<string> = []
    stream.onGone((reason) => reasons.push(reason))
    sink.close()
    sink.close()
    assert.deepStrictEqual(reasons, ["client_gone"])
    assert.strictEqual(broker.streams.size, 0)
  })
})

describe("limits", () => {
  const limits = { streams: 2, org_streams: 3, instance_streams: 4, opens: 3 }
  const refusal = (broker: ReturnType<typeof makeTestBroker>["broker"], user: string, of = org) => {
    const access = { org_id: of, project_id: null, principal: principal({ user_id: UserId.make(user) }) }
    return Result.match(broker.admit(streamOptions({ access })), {
      onSuccess: () => "admitted",
      onFailure: ({ limit }) => limit
    })
  }

  it("streams are limited per principal, organization and instance", () => {
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

  it("openings of one principal are limited per second", () => {
    const { broker, loop } = makeTestBroker({
      limits: { ...limits, streams: 100, org_streams: 100, instance_streams: 100 }
    })
    assert.deepStrictEqual(
      range(1, 4).map(() => refusal(broker, "a")),
      ["admitted", "admitted", "admitted", "opens"]
    )
    loop.advance(1_000)
    assert.strictEqual(refusal(broker, "a"), "admitted")
  })

  it("a stream or an admission that ends gives its place back", () => {
    const { admit, broker, connect, load } = makeTestBroker({ limits: { ...limits, streams: 1, opens: 100 } })
    load()
    admit().cancel()
    connect().sink.close()
    assert.strictEqual(refusal(broker, ada), "admitted")
  })
})

describe("memory", () => {
  it("rings without readers are evicted for memory, least recently used first", () => {
    const { broker, connect, feed, load, loop } = makeTestBroker({ rings_bytes: 60_000 })
    const orgs = ["a", "b", "c", "d"].map((name) => OrgId.make(name))
    const reader = principal()
    for (const of of orgs) {
      load([logged(1, { org_id: of })], undefined, of)
      feed.deliver([logged(1, { org_id: of })])
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

describe("metrics", () => {
  const value = (metric: Metric.Metric<number, unknown>) => Effect.runSync(Metric.value(metric))
  const count = Schema.decodeUnknownSync(Schema.Struct({ count: Schema.Finite }))
  const gauge = Schema.decodeUnknownSync(Schema.Struct({ value: Schema.Finite }))

  it("metrics count open streams, delivered and dropped events", () => {
    const { connect, feed, load, loop } = makeTestBroker({ ring_events: 2 })
    const before = count(value(streamMetrics.dropped)).count
    const delivered = count(value(streamMetrics.delivered)).count
    load()
    const { sink } = connect()
    connect()
    loop.advance(2_000)
    assert.strictEqual(gauge(value(streamMetrics.streams("organization"))).value, 2)
    sink.full = true
    for (const pos of range(1, 5)) {
      feed.deliver([logged(pos)])
      loop.advance(2_000)
    }
    assert.strictEqual(gauge(value(streamMetrics.streams("organization"))).value, 1)
    assert.strictEqual(count(value(streamMetrics.dropped)).count - before, 3)
    assert.strictEqual(count(value(streamMetrics.delivered)).count - delivered, 6)
    assert.isAbove(gauge(value(streamMetrics.ringBytes)).value, 1_000)
  })
})

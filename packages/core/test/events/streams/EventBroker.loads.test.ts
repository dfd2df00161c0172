import { assert, describe, it } from "@effect/vitest"
import { Duration, Option, Result } from "effect"
import { ApiKeyId } from "../../../src/Ids.ts"
import { defaultEventSettings } from "../../../src/records/events/EventSettings.ts"
import { apiKeyRevoked } from "../../../src/records/events/InternalEvents.ts"
import { idAt, logged, makeTestBroker, org, streamOptions } from "../fixtures.ts"

const empty = { events: [], floor: Option.none<string>() }

describe("a ring that is loading", () => {
  it("a loaded ring holds the events delivered during the load, in order", () => {
    const { broker, connect, feed } = makeTestBroker()
    const { finish } = broker.beginLoad(org)
    feed.deliver([logged(1), logged(2)])
    assert.isUndefined(broker.ring(org))
    assert.isTrue(finish(empty))
    assert.deepStrictEqual(connect({}, { _tag: "After", position: idAt(0) }).sink.ids, [idAt(1), idAt(2)])
  })

  it("a ring load that finishes after a restart of the feed makes no ring", () => {
    const { broker, feed } = makeTestBroker()
    const { finish } = broker.beginLoad(org)
    feed.restart(7)
    assert.isFalse(finish(empty))
    assert.isUndefined(broker.ring(org))
  })

  it("a failed load removes its ring, unless another load has begun", () => {
    const { broker } = makeTestBroker()
    const first = broker.beginLoad(org)
    const second = broker.beginLoad(org)
    first.fail()
    assert.isTrue(second.finish(empty))
    assert.isDefined(broker.ring(org))
  })
})

describe("a broker", () => {
  it("a restart of the feed ends streams and drops rings", () => {
    const { broker, connect, feed, load } = makeTestBroker()
    load()
    const { stream } = connect()
    feed.restart(3)
    assert.strictEqual(stream.ended, "log_reset")
    assert.isUndefined(broker.ring(org))
  })

  it("a revocation is in the ring like every other event", () => {
    const { broker, feed, load } = makeTestBroker()
    load()
    feed.deliver([logged(1, apiKeyRevoked(org, ApiKeyId.make("key-1")))])
    assert.strictEqual(broker.ring(org)?.lastId, idAt(1))
  })

  it("a client is not attached to a ring from before a restart, and keeps its place", () => {
    const { admit, attach, broker, feed, load } = makeTestBroker()
    load()
    const admission = admit()
    const before = broker.ring(org)
    feed.restart(3)
    load()
    assert.isDefined(before)
    const open = () => assert.fail("opened a connection")
    assert.isTrue(Option.isNone(admission.attach(before ?? assert.fail(), { _tag: "Live" }, open)))
    assert.isUndefined(attach(admission).stream.ended)
  })

  it("a cancelled admission gives its place back once", () => {
    const { admit, broker, load } = makeTestBroker({
      limits: { streams: 2, org_streams: 9, instance_streams: 9, opens: 99 }
    })
    load()
    const [first] = [admit(), admit()]
    first.cancel()
    first.cancel()
    assert.isTrue(Result.isSuccess(broker.admit(streamOptions())))
    assert.isTrue(Result.isFailure(broker.admit(streamOptions())))
  })

  it("a ring is not evicted while a client is being admitted to it", () => {
    const { admit, broker, feed, load, loop } = makeTestBroker({ rings_bytes: 1 })
    feed.restart(1)
    load([logged(1)])
    const admission = admit()
    loop.advance(Duration.toMillis(defaultEventSettings.heartbeat))
    assert.isDefined(broker.ring(org))
    admission.cancel()
    loop.advance(Duration.toMillis(defaultEventSettings.heartbeat))
    assert.isUndefined(broker.ring(org))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Duration, Option, Result } from "effect"
import { defaultEventSettings } from "../../../src/events/EventSettings.ts"
import { apiKeyRevoked } from "../../../src/events/InternalEvents.ts"
import { ApiKeyId } from "../../../src/Ids.ts"
import { idAt, logged, makeTestBroker, org, streamOptions } from "../fixtures.ts"

const empty = { events: [], floor: Option.none<string>() }

describe("a ring that is loading", () => {
  it("holds in order what was delivered during the load", () => {
    const { broker, connect, feed } = makeTestBroker()
    const { finish } = broker.beginLoad(org)
    feed.deliver([logged(1), logged(2)])
    assert.isUndefined(broker.ring(org))
    assert.isTrue(finish(empty))
    assert.deepStrictEqual(connect({}, { _tag: "After", position: idAt(0) }).sink.ids, [idAt(1), idAt(2)])
  })

  it("comes too late after a restart of the log", () => {
    const { broker, feed } = makeTestBroker()
    const { finish } = broker.beginLoad(org)
    feed.restart(7)
    assert.isFalse(finish(empty))
    assert.isUndefined(broker.ring(org))
  })

  it("is given up when its load fails, unless another one has begun", () => {
    const { broker } = makeTestBroker()
    const first = broker.beginLoad(org)
    const second = broker.beginLoad(org)
    first.fail()
    assert.isTrue(second.finish(empty))
    assert.isDefined(broker.ring(org))
  })
})

describe("a broker", () => {
  it("ends streams and gives up rings when the log begins again", () => {
    const { broker, connect, feed, load } = makeTestBroker()
    load()
    const { stream } = connect()
    feed.restart(3)
    assert.strictEqual(stream.ended, "log_reset")
    assert.isUndefined(broker.ring(org))
  })

  it("puts a revocation into the ring like every other event", () => {
    const { broker, feed, load } = makeTestBroker()
    load()
    feed.deliver([logged(1, apiKeyRevoked(org, ApiKeyId.make("key-1")))])
    assert.strictEqual(broker.ring(org)?.lastId, idAt(1))
  })

  it("attaches no client to a ring from before a restart, and keeps its place", () => {
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

  it("gives the place of a cancelled admission back once", () => {
    const { admit, broker, load } = makeTestBroker({
      limits: { streams: 2, orgStreams: 9, instanceStreams: 9, opens: 99 }
    })
    load()
    const [first] = [admit(), admit()]
    first.cancel()
    first.cancel()
    assert.isTrue(Result.isSuccess(broker.admit(streamOptions())))
    assert.isTrue(Result.isFailure(broker.admit(streamOptions())))
  })

  it("gives up no ring that a client is on its way to", () => {
    const { admit, broker, feed, load, loop } = makeTestBroker({ ringsBytes: 1 })
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

import { assert, describe, it } from "@effect/vitest"
import { Duration, Option, Result } from "effect"
import { defaultEventSettings } from "../../../src/events/EventSettings.ts"
import { apiKeyRevoked } from "../../../src/events/InternalEvents.ts"
import { ApiKeyId } from "../../../src/Ids.ts"
import { idAt, logged, makeTestBroker, org, principal } from "../fixtures.ts"

const empty = { events: [], floor: Option.none<string>() }
const access = { org_id: org, project_id: null, principal: principal() }

describe("a ring that is loading", () => {
  it("holds in order what was delivered during the load", () => {
    const { broker, connect } = makeTestBroker()
    const { finish } = broker.beginLoad(org)
    broker.deliver([logged(1), logged(2)])
    assert.isUndefined(broker.ring(org))
    assert.isTrue(finish(empty))
    assert.deepStrictEqual(connect({}, { _tag: "After", id: idAt(0) }).sink.ids, [idAt(1), idAt(2)])
  })

  it("comes too late after a restart of the log", () => {
    const { broker } = makeTestBroker()
    const { finish } = broker.beginLoad(org)
    broker.restart(7)
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
    const { broker, connect, load } = makeTestBroker()
    load()
    const { stream } = connect()
    broker.restart(3)
    assert.strictEqual(stream.ended, "log_reset")
    assert.isUndefined(broker.ring(org))
    assert.strictEqual(broker.delivered(), 3)
  })

  it("puts a revocation into the ring like every other event", () => {
    const { broker, load } = makeTestBroker()
    load()
    broker.deliver([logged(1, apiKeyRevoked(org, ApiKeyId.make("key-1")))])
    assert.strictEqual(broker.ring(org)?.lastId, idAt(1))
  })

  it("gives the place of a cancelled admission back once", () => {
    const { admit, broker, load } = makeTestBroker({
      limits: { streams: 2, orgStreams: 9, instanceStreams: 9, opens: 99 }
    })
    load()
    const [first] = [admit(), admit()]
    first.cancel()
    first.cancel()
    assert.isTrue(Result.isSuccess(broker.admit(access)))
    assert.isTrue(Result.isFailure(broker.admit(access)))
  })

  it("gives up no ring that a client is on its way to", () => {
    const { admit, broker, load, loop } = makeTestBroker({ ringsBytes: 1 })
    broker.restart(1)
    load([logged(1)])
    const admission = admit()
    loop.advance(Duration.toMillis(defaultEventSettings.heartbeat))
    assert.isDefined(broker.ring(org))
    admission.cancel()
    loop.advance(Duration.toMillis(defaultEventSettings.heartbeat))
    assert.isUndefined(broker.ring(org))
  })
})

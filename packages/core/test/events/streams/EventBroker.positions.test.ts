import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { resumeGapId } from "../../../src/records/events/EventId.ts"
import { idAt, logged, makeTestBroker, org, TestSink } from "../fixtures.ts"

const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => logged(from + index))

/** A broker whose log stands at the third event, with a loaded ring. */
const atThree = (settings: Parameters<typeof makeTestBroker>[0] = {}) => {
  const made = makeTestBroker(settings)
  made.feed.restart(3)
  made.load(events(1, 3))
  return made
}

describe("a client that is ahead of this instance", () => {
  it("a client that is ahead of the instance gets only events that it does not have", () => {
    const { connect, feed, loop } = atThree()
    const { sink } = connect({}, { _tag: "After", position: idAt(5) })
    for (const pos of [4, 5, 6]) {
      feed.deliver([logged(pos)])
      loop.advance(0)
    }
    assert.deepStrictEqual(sink.ids, [idAt(6)])
  })

  it("a bookmark never moves a client back that is ahead of the instance", () => {
    const { connect } = atThree()
    const { sink } = connect({ bookmarks: true }, { _tag: "After", position: idAt(5) })
    assert.include(sink.text, `id: ${idAt(5)}\n\n`)
    assert.notInclude(sink.text, idAt(3))
  })
})

describe("a client that was sent a gap", () => {
  it("a client that was sent a gap resumes at the gap's id", () => {
    const { connect } = atThree()
    const { sink, stream } = connect({ bookmarks: true }, { _tag: "Gap", reason: "malformed", last_event_id: null })
    stream.end("draining")
    assert.match(sink.text, new RegExp(`\nid: ${resumeGapId(idAt(3))}\n\nretry: \\d+\n\n: closing reason=draining\n$`))
  })
})

describe("a replay", () => {
  const replay = (sink: TestSink) => {
    const made = atThree({ replay_patience: Duration.seconds(5), stall_timeout: Duration.seconds(30) })
    const connected = made.connect({}, { _tag: "After", position: idAt(0) }, sink)
    let settled = false
    connected.stream.onSettled(() => {
      settled = true
    })
    return { ...made, ...connected, settled: () => settled }
  }

  it("a replay is over once it has caught up", () => {
    assert.isTrue(replay(new TestSink()).settled())
  })

  it("a replay blocked for the patience no longer counts, and continues", () => {
    const sink = new TestSink()
    sink.full = true
    const { loop, settled, stream } = replay(sink)
    loop.advance(4_000)
    assert.isFalse(settled())
    loop.advance(3_000)
    assert.isTrue(settled())
    assert.isUndefined(stream.ended)
  })
})

describe("a stream that has ended", () => {
  it("a stream ends once, for the first reason", () => {
    const { connect } = atThree()
    const { sink, stream } = connect()
    stream.end("draining")
    const said = sink.text
    stream.end("revoked")
    assert.strictEqual(sink.text, said)
    assert.strictEqual(stream.ended, "draining")
  })

  it("an ended stream may send its last bytes for the linger time, and is then destroyed", () => {
    const { connect, loop } = atThree({ linger: Duration.seconds(60) })
    const { sink, stream } = connect()
    stream.end("draining")
    loop.advance(50_000) // past the heartbeat that it was to send
    assert.isFalse(sink.destroyed)
    loop.advance(12_000)
    assert.isTrue(sink.destroyed)
  })

  it("an ended stream releases its filter", () => {
    const { broker, connect } = atThree()
    const { stream } = connect()
    const ring = broker.ring(org)
    const shared = ring?.filter(null, [])
    assert.strictEqual(shared?.users, 2)
    stream.end("draining")
    assert.strictEqual(shared?.users, 1)
  })
})

describe("a reader that takes nothing", () => {
  const behind = (max_lag_bytes: number) => {
    const { connect, feed, loop } = atThree({ max_lag_bytes })
    const sink = new TestSink()
    const { stream } = connect({}, { _tag: "Live" }, sink)
    sink.full = true
    for (const event of events(4, 12)) {
      feed.deliver([event])
      loop.advance(0)
    }
    return stream.ended
  }

  it("a reader that takes nothing is dropped once it lags too many bytes", () => {
    assert.isUndefined(behind(100_000))
    assert.strictEqual(behind(1_000), "overflow")
  })
})

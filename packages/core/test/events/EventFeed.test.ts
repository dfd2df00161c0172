import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { EventFeed } from "../../src/records/events/EventFeed.ts"
import { EventBroker } from "../../src/services/events/streams/EventBroker.ts"
import { logged, org, streamOptions, TestSink } from "./fixtures.ts"
import { Script } from "./scriptedLog.ts"

/** A subscriber that writes down what it gets. */
const subscribed = Effect.gen(function* () {
  const heard: Array<number | string> = []
  yield* (yield* EventFeed).subscribe({
    restart: (pos) => heard.push(`restart ${pos}`),
    deliver: (batch) => heard.push(...batch.map(({ pos }) => pos)),
    resumed: () => heard.push("resumed")
  })
  return heard
})

const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => logged(from + index))

/** A stream on a ring that is loaded with what the log has now. */
const follow = Effect.gen(function* () {
  const broker = yield* EventBroker
  broker.beginLoad(org).finish({ events: [], floor: Option.none() })
  const ring = broker.ring(org)
  const admission = broker.admit(streamOptions())
  if (admission._tag === "Failure" || ring === undefined) return yield* Effect.die("not admitted")
  const sink = new TestSink()
  return { sink, stream: Option.getOrThrow(admission.success.attach(ring, { _tag: "Live" }, () => sink)) }
})

describe("a feed", () => {
  it.effect("a feed reads the log at once for a refresh, without a hint and before its next poll", () => {
    const script = new Script()
    return Effect.gen(function* () {
      const feed = yield* EventFeed
      const heard = yield* subscribed
      yield* feed.ready
      yield* Effect.yieldNow
      script.rows = rows(1, 3)
      const refreshed = yield* Effect.forkChild(feed.refresh)
      yield* TestClock.adjust("1 second")
      assert.isDefined(refreshed.pollUnsafe())
      assert.deepStrictEqual(heard, ["restart 0", 1, 2, 3])
    }).pipe(Effect.provide(script.layer({ tail_batch: 2 })))
  })

  it.effect("each hint is a read, and events get their ids once for each poll, also while hints do not pause", () => {
    const script = new Script()
    return Effect.gen(function* () {
      yield* (yield* EventFeed).ready
      yield* Effect.yieldNow
      const before = { ...script.asked }
      for (let hint = 0; hint < 21; hint++) {
        yield* script.hint
        yield* TestClock.adjust("7 seconds")
      }
      assert.deepStrictEqual(
        { sequence: script.asked.sequence - before.sequence, tail: script.asked.tail - before.tail },
        { sequence: 2, tail: 21 + 2 }
      )
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a feed that another instance has kept from giving ids does it with the next hint", () => {
    const script = new Script()
    return Effect.gen(function* () {
      yield* (yield* EventFeed).ready
      yield* TestClock.adjust("30 seconds")
      script.busy = true
      yield* TestClock.adjust("30 seconds")
      script.busy = false
      const before = script.asked.sequence
      for (const expected of [1, 1]) {
        yield* script.hint
        yield* TestClock.adjust("1 second")
        assert.strictEqual(script.asked.sequence - before, expected)
      }
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a refresh gives events their ids first", () => {
    const script = new Script()
    return Effect.gen(function* () {
      const feed = yield* EventFeed
      yield* feed.ready
      yield* Effect.yieldNow
      const before = script.asked.sequence
      yield* feed.refresh
      assert.strictEqual(script.asked.sequence, before + 1)
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a feed publishes each event once", () => {
    const script = new Script()
    return Effect.gen(function* () {
      const feed = yield* EventFeed
      const heard: Array<number> = []
      const hearing = yield* Effect.forkChild(
        Stream.runForEach(feed.events, (event) => Effect.sync(() => heard.push(event.pos)))
      )
      yield* feed.ready
      yield* Effect.yieldNow
      script.rows = rows(1, 3)
      yield* TestClock.adjust("1 minute")
      script.rows = rows(1, 5)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(heard, [1, 2, 3, 4, 5])
      yield* Fiber.interrupt(hearing)
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a hole in the log ends streams", () => {
    const script = new Script()
    return Effect.gen(function* () {
      yield* (yield* EventFeed).ready
      const heard = yield* subscribed
      const { stream } = yield* follow
      script.rows = rows(1, 2)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(stream.ended)
      script.rows = rows(5, 6)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(stream.ended, "log_reset")
      assert.deepStrictEqual(heard, ["restart 0", 1, 2, "restart 2", 5, 6])
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("an outage ends streams only if the log went back", () => {
    const script = new Script()
    script.rows = rows(1, 4)
    return Effect.gen(function* () {
      yield* (yield* EventFeed).ready
      const outage = Effect.gen(function* () {
        script.fails = true
        yield* TestClock.adjust("1 minute")
        script.fails = false
        yield* TestClock.adjust("10 seconds")
      })
      const { stream } = yield* follow
      yield* outage
      assert.isUndefined(stream.ended)
      script.rows = rows(1, 2)
      yield* outage
      assert.strictEqual(stream.ended, "log_reset")
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect.each([
    { lost: "and is past its former head at the next read", head: 9 },
    { lost: "and has as many events as before", head: 4 },
    { lost: "and has fewer events than before", head: 3 }
  ])("a log that lost its end $lost ends streams, and the feed goes on behind its head", ({ head }) => {
    const script = new Script()
    script.rows = rows(1, 4)
    return Effect.gen(function* () {
      yield* (yield* EventFeed).ready
      const heard = yield* subscribed
      const { stream } = yield* follow
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(stream.ended)
      const others = rows(1, head).map((row) => (row.pos < 3 ? row : { ...row, id: `${row.id.slice(0, -1)}Z` }))
      script.rows = others
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(stream.ended, "log_reset")
      script.rows = [...others, ...rows(head + 1, head + 1)]
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(heard, ["restart 4", `restart ${head}`, head + 1])
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a log whose events are all trimmed ends no stream, however long nothing happens", () => {
    const script = new Script()
    script.rows = rows(1, 4)
    return Effect.gen(function* () {
      yield* (yield* EventFeed).ready
      const heard = yield* subscribed
      const { stream } = yield* follow
      const newest = script.rows.at(-1)
      script.head = 4
      script.headId = newest?.id
      script.rows = []
      yield* TestClock.adjust("3 minutes")
      assert.isUndefined(stream.ended)
      script.head = undefined
      script.headId = undefined
      script.rows = rows(5, 5)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(stream.ended)
      assert.deepStrictEqual(heard, ["restart 4", 5])
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a feed starts a late subscriber behind the last batch, and calls it until its scope closes", () => {
    const script = new Script()
    script.rows = rows(1, 2)
    return Effect.gen(function* () {
      yield* (yield* EventFeed).ready
      const early = yield* subscribed
      script.rows = rows(1, 4)
      yield* TestClock.adjust("1 minute")
      const late = yield* Effect.scoped(
        Effect.gen(function* () {
          const heard = yield* subscribed
          script.rows = rows(1, 5)
          yield* TestClock.adjust("1 minute")
          return heard
        })
      )
      script.rows = rows(1, 6)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(early, ["restart 2", 3, 4, 5, 6])
      assert.deepStrictEqual(late, ["restart 4", 5])
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a feed delivers a batch again after a subscriber failed on it, and announces that it resumed", () => {
    const script = new Script()
    return Effect.gen(function* () {
      const feed = yield* EventFeed
      yield* feed.ready
      let failures = 1
      yield* feed.subscribe({
        deliver: () => {
          if (failures-- > 0) throw new Error("planted")
        }
      })
      const heard = yield* subscribed
      script.rows = rows(1, 2)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(heard, ["restart 0", "resumed", 1, 2])
    }).pipe(Effect.provide(script.layer()))
  })

  it.effect("a feed trims events older than the retention", () => {
    const script = new Script()
    return Effect.gen(function* () {
      yield* TestClock.adjust("10 minutes")
      assert.isAbove(script.trims.length, 1)
      const now = yield* DateTime.now
      assert.deepStrictEqual(script.trims.at(-1), {
        before: DateTime.subtractDuration(now, Duration.minutes(5)),
        keep: 7
      })
    }).pipe(Effect.provide(script.layer({ retention: Duration.minutes(5), ring_events: 7 })))
  })
})

/** Holds docs/design/events.md E4. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { NewEvent } from "../../../src/records/events/Envelope.ts"
import { EventFeed } from "../../../src/records/events/EventFeed.ts"
import { makeEventId, noEvent } from "../../../src/records/events/EventId.ts"
import { EventLog } from "../../../src/records/events/EventLog.ts"
import { defaultEventSettings, EventSettings } from "../../../src/records/events/EventSettings.ts"
import { MemoryStorage } from "../../../src/records/memory/MemoryStorage.ts"
import { StorageError } from "../../../src/StorageError.ts"
import { EventBroker } from "../../../src/services/events/streams/EventBroker.ts"
import { EventStreams, type StreamRequest } from "../../../src/services/events/streams/EventStreams.ts"
import type { StreamAccess } from "../../../src/services/events/streams/StreamAccess.ts"
import { StreamAuthority } from "../../../src/services/events/streams/StreamAuthority.ts"
import { Transaction } from "../../../src/Transaction.ts"
import { org, otherProject, principal, project, TestSink } from "../fixtures.ts"

const authority = { permits: (_: StreamAccess): Effect.Effect<boolean, StorageError> => Effect.succeed(true) }
const outage = { now: false }

/** The log, which does not answer while `outage.now`. */
const unreliableLog = Layer.effect(
  EventLog,
  Effect.map(EventLog, (log) => {
    const answering = <A>(work: Effect.Effect<A, StorageError>) =>
      Effect.suspend(() => (outage.now ? Effect.fail(new StorageError({ operation: "log", cause: "outage" })) : work))
    return {
      ...log,
      sequence: answering(log.sequence),
      tail: (after: number, limit: number) => answering(log.tail(after, limit))
    }
  })
).pipe(Layer.provide(EventLog.layerMemory))

const world = (settings: Partial<EventSettings> = {}) =>
  EventStreams.layer.pipe(
    Layer.provideMerge(EventBroker.layer),
    Layer.provideMerge(EventFeed.layer),
    Layer.provide(Layer.succeed(StreamAuthority, authority)),
    Layer.provideMerge(Transaction.layerMemory),
    Layer.provideMerge(unreliableLog),
    Layer.provide(MemoryStorage.layer),
    Layer.provideMerge(Layer.succeed(EventSettings, { ...defaultEventSettings, ...settings }))
  )

const commit = (...numbers: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const { emit, run } = yield* Transaction
    const event = (n: number): NewEvent => ({
      org_id: org,
      project_id: n % 2 === 0 ? project : otherProject,
      type: "operation.updated.v1",
      source: "operations",
      internal: false,
      data: { n }
    })
    yield* run(Effect.forEach(numbers, (n) => emit(event(n)), { discard: true }))
  })

const idOf = (n: number) =>
  Effect.gen(function* () {
    const events = yield* (yield* EventLog).tail(0, 10_000)
    return events.find((event) => event.data["n"] === n)?.id ?? ""
  })

const connect = (request: Partial<StreamRequest> = {}) =>
  Effect.gen(function* () {
    const sink = new TestSink()
    const stream = yield* (yield* EventStreams).subscribe({
      access: { org_id: org, project_id: null, principal: principal() },
      expires_at: null,
      types: [],
      bookmarks: false,
      last_event_id: undefined,
      open: () => sink,
      ...request
    })
    return { sink, stream }
  })

/** Lets time pass until it holds. */
const until = (holds: () => boolean) =>
  Effect.gen(function* () {
    for (let turn = 0; !holds() && turn < 200; turn++) yield* TestClock.adjust("50 millis")
    assert.isTrue(holds())
  })

const numbers = (sink: TestSink) => [...sink.text.matchAll(/"data":\{"n":(\d+)\}/g)].map((found) => Number(found[1]))

describe("event streams", () => {
  it.effect("a stream sends events committed after it was opened", () =>
    Effect.gen(function* () {
      yield* commit(1)
      const { sink } = yield* connect()
      yield* commit(2, 3)
      yield* until(() => numbers(sink).length === 2)
      assert.deepStrictEqual(numbers(sink), [2, 3])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a stream replays missed events, whether or not its ring was loaded before", () =>
    Effect.gen(function* () {
      yield* commit(1, 2, 3, 4)
      const last_event_id = yield* idOf(2)
      const cold = yield* connect({ last_event_id })
      const warm = yield* connect({ last_event_id: last_event_id.toLowerCase() })
      assert.deepStrictEqual(
        [numbers(cold.sink), numbers(warm.sink)],
        [
          [3, 4],
          [3, 4]
        ]
      )
      const narrow = yield* connect({
        last_event_id: noEvent,
        access: { org_id: org, project_id: project, principal: principal() }
      })
      assert.deepStrictEqual(numbers(narrow.sink), [2, 4])
    }).pipe(Effect.provide(world()))
  )

  it.effect("a position before the ring is a gap only if the scope lost an event", () =>
    Effect.gen(function* () {
      yield* commit(2, 1, 3, 5, 7, 9)
      const last_event_id = yield* idOf(2)
      const wide = yield* connect({ last_event_id })
      assert.deepInclude(wide.sink.data("resume.gap.v1"), { reason: "too_old", last_event_id })
      const access = { org_id: org, project_id: project, principal: principal() }
      const narrow = yield* connect({ last_event_id, access })
      assert.strictEqual(narrow.sink.text, ": ok\n")
    }).pipe(Effect.provide(world({ ring_events: 3 })))
  )

  it.effect("a malformed position is a gap, and so is one ahead of the log", () =>
    Effect.gen(function* () {
      yield* commit(1)
      const malformed = yield* connect({ last_event_id: "yesterday" })
      assert.deepInclude(malformed.sink.data("resume.gap.v1"), { reason: "malformed", last_event_id: null })
      const forged = makeEventId(2 ** 47, 0, 1)
      const ahead = yield* Effect.forkChild(connect({ last_event_id: forged }))
      yield* until(() => ahead.pollUnsafe() !== undefined)
      const { sink } = yield* Fiber.join(ahead)
      assert.deepInclude(sink.data("resume.gap.v1"), { reason: "ahead", last_event_id: forged })
    }).pipe(Effect.provide(world()))
  )

  it.effect("a client whose right ended during admission is refused", () =>
    Effect.gen(function* () {
      const { sink, stream } = yield* connect()
      assert.strictEqual(sink.text, ": ok\n: closing reason=revoked\n")
      sink.close()
      assert.strictEqual(yield* stream.ended, "revoked")
    }).pipe(
      Effect.provide(world()),
      withAuthority(() => Effect.succeed(false))
    )
  )

  it.effect("a stream ends at the next revalidation if its right has gone without a revocation", () =>
    Effect.gen(function* () {
      const { sink } = yield* connect()
      authority.permits = () => Effect.succeed(false)
      yield* TestClock.adjust("47 seconds")
      assert.isFalse(sink.ended)
      yield* TestClock.adjust("30 seconds")
      assert.isTrue(sink.text.endsWith(": closing reason=revoked\n"))
    }).pipe(
      Effect.provide(world()),
      withAuthority(() => Effect.succeed(true))
    )
  )

  it.effect("streams stay open through an outage of the store, resume after it, and are revalidated", () =>
    Effect.gen(function* () {
      const { sink } = yield* connect()
      outage.now = true
      yield* commit(1)
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(numbers(sink), [])
      let looked = 0
      authority.permits = () => Effect.sync(() => ++looked > 0)
      outage.now = false
      yield* until(() => numbers(sink).length === 1 && looked > 0)
      assert.isFalse(sink.ended)
    }).pipe(
      Effect.provide(world()),
      withAuthority(() => Effect.succeed(true))
    )
  )

  it.effect("a draining instance ends its streams gradually and takes no new ones", () =>
    Effect.gen(function* () {
      const streams = yield* EventStreams
      const sinks = yield* Effect.forEach(Array.from({ length: 40 }), () =>
        Effect.map(connect({ bookmarks: true }), (it) => it.sink)
      )
      const drained = yield* Effect.forkChild(streams.drain(Duration.seconds(10)))
      yield* TestClock.adjust("50 millis")
      const closing = () => sinks.filter((sink) => sink.ended)
      assert.isTrue(closing().length > 0 && closing().length < 40)
      assert.strictEqual((yield* Effect.flip(connect()))._tag, "StreamsDraining")
      const relay = yield* connect({ bookmarks: true })
      assert.match(relay.sink.text, /^: ok\nretry: \d+\n\n: closing reason=draining\n$/)
      yield* TestClock.adjust("2 seconds")
      assert.lengthOf(closing(), 40)
      assert.isUndefined(drained.pollUnsafe())
      for (const sink of sinks) sink.close()
      yield* Fiber.join(drained)
      assert.isFalse(relay.sink.destroyed)
      yield* TestClock.adjust("4 seconds")
      assert.isTrue(relay.sink.destroyed, "a relay that does not hang up is destroyed, even if its end is not awaited")
    }).pipe(Effect.provide(world()))
  )

  it.effect("a client that leaves before it is attached gives its place back", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(connect())
      yield* Effect.yieldNow
      yield* Fiber.interrupt(waiting)
      authority.permits = () => Effect.succeed(true)
      const exit = yield* Effect.exit(connect())
      assert.isTrue(Exit.isSuccess(exit))
      assert.strictEqual((yield* Effect.flip(connect()))._tag, "TooManyStreams")
    }).pipe(
      Effect.provide(world({ limits: { streams: 1, org_streams: 10, instance_streams: 10, opens: 10 } })),
      withAuthority(() => Effect.never)
    )
  )
})

describe("the feed", () => {
  it.effect("the feed publishes committed events to readers in the process", () =>
    Effect.gen(function* () {
      const feed = yield* EventFeed
      const heard = yield* Effect.forkChild(Stream.runHead(feed.events))
      yield* feed.ready
      yield* Effect.yieldNow
      yield* commit(7)
      yield* until(() => heard.pollUnsafe() !== undefined)
      assert.strictEqual(Option.getOrThrow(yield* Fiber.join(heard)).data["n"], 7)
    }).pipe(Effect.provide(world()))
  )

  it.effect("a finished refresh has delivered everything that the log held", () =>
    Effect.gen(function* () {
      const feed = yield* EventFeed
      yield* feed.ready
      const delivered: Array<number> = []
      yield* feed.subscribe({ deliver: (batch) => delivered.push(...batch.map(({ pos }) => pos)) })
      yield* commit(1, 2, 3)
      yield* feed.refresh
      assert.deepStrictEqual(delivered, [1, 2, 3])
    }).pipe(Effect.provide(world({ tail_batch: 1, poll: Duration.hours(1) })))
  )

  it.effect("the feed trims events older than the retention, except the newest of an organization", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      yield* commit(1, 2, 3, 4)
      yield* TestClock.adjust("9 minutes")
      assert.lengthOf(yield* log.tail(0, 10), 4)
      yield* TestClock.adjust("2 minutes")
      assert.lengthOf(yield* log.tail(0, 10), 2)
    }).pipe(Effect.provide(world({ ring_events: 2, retention: Duration.minutes(5) })))
  )
})

/** Replaces the authority for one test. */
function withAuthority(permits: typeof authority.permits) {
  return <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        authority.permits = permits
      }),
      () => test,
      () =>
        Effect.sync(() => {
          authority.permits = () => Effect.succeed(true)
        })
    )
}

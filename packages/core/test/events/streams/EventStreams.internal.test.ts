/** Internal events in the log: no client sees them, and none misses an event because of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { EventFeed } from "../../../src/records/events/EventFeed.ts"
import { EventLog } from "../../../src/records/events/EventLog.ts"
import { defaultEventSettings, EventSettings } from "../../../src/records/events/EventSettings.ts"
import { MemoryStorage } from "../../../src/records/memory/MemoryStorage.ts"
import { EventBroker } from "../../../src/services/events/streams/EventBroker.ts"
import { EventStreams } from "../../../src/services/events/streams/EventStreams.ts"
import { StreamAuthority } from "../../../src/services/events/streams/StreamAuthority.ts"
import { Transaction } from "../../../src/Transaction.ts"
import { org, principal, project, TestSink } from "../fixtures.ts"

const world = EventStreams.layer.pipe(
  Layer.provideMerge(EventBroker.layer),
  Layer.provideMerge(EventFeed.layer),
  Layer.provide(Layer.succeed(StreamAuthority, { permits: () => Effect.succeed(true) })),
  Layer.provideMerge(Transaction.layerMemory),
  Layer.provideMerge(EventLog.layerMemory),
  Layer.provide(MemoryStorage.layer),
  Layer.provideMerge(Layer.succeed(EventSettings, { ...defaultEventSettings, ring_events: 3 }))
)

const commit = (internal: boolean, ...numbers: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const { emit, run } = yield* Transaction
    const type = internal ? "internal.allowlist_changed.v1" : "ip_allowlist.changed.v1"
    for (const n of numbers)
      yield* run(emit({ org_id: org, project_id: project, type, source: "operations", internal, data: { n } }))
  })

/** So many internal events as would fill several rings. */
const many = Array.from({ length: 20 }, (_, index) => 100 + index)

/** The events of one stream behind another: three of them, between internal ones. */
const commitAll = Effect.gen(function* () {
  for (const n of [1, 2, 3]) {
    yield* commit(true, ...many)
    yield* commit(false, n)
  }
  yield* commit(true, ...many)
  return yield* (yield* EventLog).headOf(org)
})

const connect = (last_event_id: string | undefined) =>
  Effect.gen(function* () {
    const sink = new TestSink()
    const access = { org_id: org, project_id: null, principal: principal() }
    const options = { access, expires_at: null, types: [], bookmarks: true, last_event_id, open: () => sink }
    yield* (yield* EventStreams).subscribe(options)
    return sink
  })

const numbers = (sink: TestSink) => [...sink.text.matchAll(/"data":\{"n":(\d+)\}/g)].map((found) => Number(found[1]))

/** Commits an event, and returns its id. */
const first = Effect.gen(function* () {
  yield* commit(false, 0)
  return yield* (yield* EventLog).headOf(org)
})

describe("internal events", () => {
  it.effect("a client resumes across any number of internal events, in a ring that followed them", () =>
    Effect.gen(function* () {
      const position = yield* first
      const live = yield* connect(undefined)
      const head = yield* commitAll
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(numbers(live), [1, 2, 3])
      assert.include(live.text, `id: ${head}\n\n`, "a heartbeat moves the position over internal events")
      assert.deepStrictEqual(numbers(yield* connect(position)), [1, 2, 3])
    }).pipe(Effect.provide(world))
  )

  it.effect("a client resumes across any number of internal events, in a ring that is loaded from the log", () =>
    Effect.gen(function* () {
      const position = yield* first
      const head = yield* commitAll
      assert.deepStrictEqual(numbers(yield* connect(position)), [1, 2, 3])
      const ahead = yield* connect(head)
      assert.deepStrictEqual([numbers(ahead), ahead.data("resume.gap.v1")], [[], undefined])
      assert.include(ahead.text, `id: ${head}\n\n`)
    }).pipe(Effect.provide(world))
  )
})

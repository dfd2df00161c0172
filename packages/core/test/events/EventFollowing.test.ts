/**
 * Following events inside the process: from the call on, at the reader's pace, with gaps where the log has no more.
 * Holds docs/design/library.md N30 and N31.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Layer, Option, Predicate, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  BranchId,
  defaultEventSettings,
  EventFeed,
  EventFollowing,
  EventHistory,
  EventLog,
  EventSettings,
  type Followed,
  type FollowRequest,
  layerMemoryPorts,
  makeEventId,
  type NewEvent,
  noEvent,
  OrgId,
  ProjectId,
  Transaction,
  UserId
} from "../../src/index.ts"
import {
  branchRevoked,
  membershipRevoked,
  organizationRevoked,
  projectRevoked
} from "../../src/records/events/InternalEvents.ts"
import { logged, org as scripted } from "./fixtures.ts"
import { Script } from "./scriptedLog.ts"

const org = OrgId.make("org_1")
const project = ProjectId.make("prj_1")

const api = EventFollowing.layer.pipe(
  Layer.provideMerge(Layer.merge(EventFeed.layer, EventHistory.layer)),
  Layer.provideMerge(layerMemoryPorts)
)

interface Stated {
  readonly org_id?: OrgId
  readonly project_id?: ProjectId | null
  readonly type?: string
  readonly internal?: boolean
}

/** Commits events that count from `from` on, and waits until the feed has delivered them. */
const state = (
  from: number,
  count: number,
  { internal = false, org_id = org, project_id = null, type = "counted.v1" }: Stated = {}
) =>
  Effect.gen(function* () {
    const { emit, run } = yield* Transaction
    const events = Array.from({ length: count }, (_, at) => ({
      org_id,
      project_id,
      type,
      source: "test",
      internal,
      data: { n: from + at }
    }))
    yield* run(Effect.forEach(events, emit, { discard: true }))
    yield* (yield* EventFeed).refresh
  })

const follow = (request: Partial<FollowRequest> = {}) =>
  EventFollowing.use(({ follow }) => follow({ org_id: org, project_id: null, types: [], after: null, ...request }))

const shown = (item: Followed) => (item._tag === "Gap" ? item.reason : item.envelope.data["n"])

const take = (events: Stream.Stream<Followed, unknown>, count: number) =>
  Effect.map(Stream.runCollect(Stream.take(events, count)), (items) => items.map(shown))

const counting = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

const test = (says: string, run: Effect.Effect<void, unknown, Layer.Success<typeof api> | Scope.Scope>) =>
  it.effect(says, () =>
    Effect.gen(function* () {
      yield* (yield* EventFeed).ready
      yield* run
    }).pipe(Effect.scoped, Effect.provide(api))
  )

describe("following events", () => {
  test(
    "a subscription has all events of its scope from the call on, in order, and none from before",
    Effect.gen(function* () {
      yield* state(1, 3)
      const [whole, some, ofProject] = [
        yield* follow(),
        yield* follow({ types: ["other.v1"] }),
        yield* follow({ project_id: project })
      ]
      yield* state(4, 2)
      yield* state(6, 1, { org_id: OrgId.make("org_2") })
      yield* state(7, 1, { internal: true })
      yield* state(8, 1, { project_id: project, type: "other.v1" })
      assert.deepStrictEqual(yield* take(whole, 3), [4, 5, 8])
      assert.deepStrictEqual(yield* take(some, 1), [8])
      assert.deepStrictEqual(yield* take(ofProject, 1), [8])
    })
  )

  test(
    "a subscription ends with its organization or its project, after everything that came before",
    Effect.gen(function* () {
      const revoke = (revocation: NewEvent) =>
        Effect.gen(function* () {
          const { emit, run } = yield* Transaction
          yield* run(emit(revocation))
          yield* (yield* EventFeed).refresh
        })
      const ended = (events: Stream.Stream<Followed, unknown>) =>
        Effect.gen(function* () {
          const seen: Array<unknown> = []
          const failure = yield* Effect.flip(
            Stream.runForEach(events, (item) => Effect.sync(() => seen.push(shown(item))))
          )
          return [Predicate.isTagged(failure, "NotFound"), ...seen]
        })
      const [whole, ofProject, elsewhere] = [
        yield* follow(),
        yield* follow({ project_id: project }),
        yield* follow({ project_id: ProjectId.make("prj_2") })
      ]
      yield* state(1, 2, { project_id: project })
      // The end of one membership or one branch ends no subscription of the organization or the project.
      yield* revoke(membershipRevoked(org, UserId.make("user_1")))
      yield* revoke(branchRevoked(org, project, BranchId.make("br_1")))
      yield* revoke(projectRevoked(org, project))
      yield* state(3, 400)
      yield* revoke(organizationRevoked(OrgId.make("org_2")))
      yield* revoke(organizationRevoked(org))
      yield* state(403, 250)
      assert.deepStrictEqual(yield* ended(ofProject), [true, 1, 2])
      assert.deepStrictEqual(yield* ended(whole), [true, ...counting(1, 402)])
      assert.deepStrictEqual(yield* ended(elsewhere), [true])
    })
  )

  test(
    "a reader that is slower than the events gets each of them once, with a bounded buffer",
    Effect.gen(function* () {
      const events = yield* follow()
      for (let from = 1; from <= 901; from += 100) yield* state(from, 100)
      assert.deepStrictEqual(yield* take(events, 1_000), counting(1, 1_000))
      yield* state(1_001, 2)
      assert.deepStrictEqual(yield* take(events, 2), [1_001, 1_002])
    })
  )

  test(
    "a subscription resumes after an id, and continues with what is delivered while it reads the log",
    Effect.gen(function* () {
      yield* state(1, 150)
      const { events } = yield* (yield* EventHistory).read(org, null, { after: null, limit: 10 })
      const resumed = yield* follow({ after: events[9]?.id ?? "" })
      const reading = yield* Effect.forkChild(take(resumed, 190))
      yield* state(151, 25)
      yield* state(176, 25)
      assert.deepStrictEqual(yield* Fiber.join(reading), counting(11, 200))
    })
  )

  test(
    "an id that is none, of a lost timeline, or older than the log is a gap, and events follow",
    Effect.gen(function* () {
      yield* state(1, 2)
      const now = yield* DateTime.now
      const malformed = yield* follow({ after: "nonsense" })
      const ahead = yield* follow({ after: makeEventId(now.epochMilliseconds + 1_000_000, 1, 1) })
      yield* state(3, 1)
      assert.deepStrictEqual(yield* take(malformed, 2), ["malformed", 3])
      // The state that is read after the gap includes the third event.
      assert.deepStrictEqual(yield* take(ahead, 1), ["ahead"])
      yield* state(4, 1)
      assert.deepStrictEqual(yield* take(ahead, 1), [4])

      const [first] = (yield* (yield* EventHistory).read(org, null, { after: null, limit: 1 })).events
      yield* TestClock.adjust("1 hour")
      yield* state(5, 1)
      yield* (yield* EventLog).trim(DateTime.subtract(yield* DateTime.now, { minutes: 1 }), 1)
      const old = yield* follow({ after: first?.id ?? "" })
      assert.deepStrictEqual(yield* take(old, 2), ["too_old", 5])
    })
  )

  it.effect("an event that the log had before the feed delivered it is followed once", () => {
    const script = new Script()
    const log = {
      ...script.log,
      history: () => Effect.sync(() => ({ events: script.rows, oldest_id: Option.none(), complete: true, more: false }))
    }
    const late = EventFollowing.layer.pipe(
      Layer.provideMerge(Layer.merge(EventFeed.layer, EventHistory.layer)),
      Layer.provideMerge(Layer.succeed(EventLog, log)),
      Layer.provideMerge(Layer.succeed(EventSettings, { ...defaultEventSettings, poll: Duration.minutes(1) }))
    )
    return Effect.gen(function* () {
      const feed = yield* EventFeed
      yield* feed.ready
      const events = yield* follow({ org_id: scripted, after: noEvent })
      script.rows = [logged(1), logged(2)]
      assert.deepStrictEqual(yield* take(events, 2), [1, 2], "read from the log")
      yield* feed.refresh
      script.rows = [...script.rows, logged(3)]
      yield* feed.refresh
      assert.deepStrictEqual(yield* take(events, 1), [3], "the feed has delivered the others too")
    }).pipe(Effect.scoped, Effect.provide(late))
  })
})

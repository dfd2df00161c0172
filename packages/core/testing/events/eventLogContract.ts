/**
 * The contract of `EventLog`, together with the `Transaction` that fills it. Run it against every adapter.
 *
 * The contract expects a log of its own: nothing else appends or sequences while it runs.
 */
import { DateTime, Effect, Option, Stream } from "effect"
import { type ProjectId, RegionId } from "../../src/Ids.ts"
import type { EmittedEvent } from "../../src/records/events/Envelope.ts"
import { eventIdParts, noEvent } from "../../src/records/events/EventId.ts"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import {
  added,
  commit,
  event,
  farAhead,
  fresh,
  logged,
  longAgo,
  numbers,
  Refused,
  range,
  repeatedly,
  settle
} from "./logFixtures.ts"

export const eventLogContract = contract<EventLog | Transaction>("EventLog", (it) => {
  it("the log keeps events as they were appended", () =>
    Effect.gen(function* () {
      const { org, project } = yield* fresh
      const data = { text: '\u2028 "é" 😀', list: [1, null, true, { deep: -0.5 }], empty: {} }
      const [first, second] = yield* logged([event(org, project, 0, { data }), event(org, null, 1)])
      assert.deepStrictEqual(first?.data, data)
      assert.deepInclude(first, {
        org_id: org,
        project_id: project,
        type: "operation.updated.v1",
        source: "operations",
        internal: false,
        region_id: RegionId.make("local")
      })
      assert.isTrue(first !== undefined && DateTime.isDateTime(first.at))
      assert.isNull(second?.project_id)
    }))

  it("text that databases cannot hold is replaced, and the change that the event reports commits", () =>
    Effect.gen(function* () {
      const { org } = yield* fresh
      const data = { "na\u0000me": "\u0000", list: ["\ud83d", { deep: "a\udc00b" }], kept: "\\u0000 😀" }
      const [logs] = yield* logged([event(org, null, 0, { data })])
      assert.deepStrictEqual(logs?.data, {
        "na\ufffdme": "\ufffd",
        list: ["\ufffd", { deep: "a\ufffdb" }],
        kept: "\\u0000 😀"
      })
    }))

  it("positions are dense and ids rise over all organizations", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* fresh, yield* fresh]
      const before = yield* (yield* EventLog).head
      const events = yield* logged(range(1, 20).map((n) => event(n % 3 === 0 ? b.org : a.org, null, n)))
      assert.deepStrictEqual(numbers(events), range(1, 20))
      assert.deepStrictEqual(
        events.map((it) => it.pos),
        range(before.pos + 1, before.pos + 20)
      )
      for (const [index, it] of events.entries()) {
        assert.isTrue(it.id > (events[index - 1]?.id ?? before.id))
        assert.match(it.id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
        assert.strictEqual(eventIdParts(it.id).low, 0)
      }
    }))

  it("the head of the log is its newest event", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { org } = yield* fresh
      const events = yield* logged([event(org, null, 1), event(org, null, 2)])
      assert.deepStrictEqual(yield* log.head, { pos: events[1]?.pos, id: events[1]?.id })
    }))

  it("each organization has a head, also up to an id, which others do not move", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const [a, b] = [yield* fresh, yield* fresh]
      const untouched = yield* log.headOf(a.org)
      const [older] = yield* logged([event(b.org, null, 1)])
      assert.strictEqual(yield* log.headOf(a.org), untouched)
      const [mine, theirs] = yield* logged([event(a.org, null, 1), event(b.org, null, 2)])
      for (const upTo of [undefined, mine?.id, theirs?.id]) assert.strictEqual(yield* log.headOf(a.org, upTo), mine?.id)
      assert.strictEqual(yield* log.headOf(b.org, mine?.id), older?.id)
    }))

  it("the events of one transaction keep the order in which they were emitted", () =>
    Effect.gen(function* () {
      const { org } = yield* fresh
      const events = yield* added(commit(...range(1, 12).map((n) => event(org, null, n))))
      assert.deepStrictEqual(numbers(events), range(1, 12))
    }))

  it("a later commit gets the greater id, however many writers there are", () =>
    Effect.gen(function* () {
      const { org } = yield* fresh
      const writer = (w: number) =>
        Effect.forEach(range(1, 10), (n) => commit(event(org, null, n, { data: { w, n } })), { discard: true })
      const events = yield* added(Effect.forEach(range(1, 5), writer, { concurrency: "unbounded" }))
      assert.lengthOf(events, 50)
      for (const w of range(1, 5)) {
        const own = events.filter((it) => it.data["w"] === w)
        assert.deepStrictEqual(numbers(own), range(1, 10))
      }
    }))

  it("a failed transaction leaves no event and no hole", () =>
    Effect.gen(function* () {
      const { org } = yield* fresh
      const { emit, run } = yield* Transaction
      const failing = run(Effect.andThen(emit(event(org, null, 2)), Effect.fail(new Refused())))
      const events = yield* added(
        Effect.gen(function* () {
          yield* commit(event(org, null, 1))
          yield* Effect.flip(failing)
          yield* Effect.exit(run(Effect.andThen(emit(event(org, null, 3)), Effect.die("a defect"))))
          yield* commit(event(org, null, 4))
        })
      )
      assert.deepStrictEqual(numbers(events), [1, 4])
      assert.strictEqual(events[1]?.pos, (events[0]?.pos ?? 0) + 1)
    }))

  it("a transaction within a transaction joins it", () =>
    Effect.gen(function* () {
      const { org } = yield* fresh
      const { emit, run } = yield* Transaction
      const nested = run(Effect.andThen(run(emit(event(org, null, 1))), Effect.fail(new Refused())))
      assert.deepStrictEqual(yield* added(Effect.flip(nested)), [])
    }))

  it("a window has the newest visible events of an organization, and its head", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const [a, b] = [yield* fresh, yield* fresh]
      const events = yield* logged([
        ...range(1, 6).map((n) => event(a.org, null, n, { internal: n === 3 || n === 6 })),
        event(b.org, null, 7)
      ])
      const window = yield* log.window(a.org, 2)
      assert.deepStrictEqual(numbers(window.events), [4, 5, 6])
      assert.deepStrictEqual(window.floor, Option.some(events[1]?.id ?? ""))
      const exact = yield* log.window(a.org, 4)
      assert.deepStrictEqual(numbers(exact.events), [1, 2, 4, 5, 6])
      assert.isTrue(Option.getOrElse(exact.floor, () => noEvent) < (events[0]?.id ?? ""))
    }))

  it("the log knows whether a scope had visible events between two ids", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { org, other, project } = yield* fresh
      const events = yield* logged([
        event(org, project, 1),
        event(org, other, 2),
        event(org, project, 3, { internal: true }),
        event(org, null, 4)
      ])
      const id = (n: number) => events[n - 1]?.id ?? ""
      const has = (project: ProjectId | null, after: string, upTo: string) =>
        log.scopeHasBetween(org, project, after, upTo)
      assert.isTrue(yield* has(null, id(1), id(2)))
      assert.isFalse(yield* has(null, id(2), id(3)))
      assert.isFalse(yield* has(project, id(1), id(4)))
      assert.isTrue(yield* has(other, id(1), id(2)))
      assert.isFalse(yield* has(other, id(2), id(4)))
      assert.isFalse(yield* has(null, id(4), id(4)))
      assert.isFalse(yield* log.scopeHasBetween((yield* fresh).org, null, id(1), id(4)))
    }))

  it("the history of a scope has pages, without internal events", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { org, other, project } = yield* fresh
      const events = yield* logged(
        range(1, 9).map((n) => event(org, n % 3 === 0 ? other : project, n, { internal: n === 4 }))
      )
      const first = yield* log.history(org, project, noEvent, 3)
      assert.deepStrictEqual(numbers(first.events), [1, 2, 5])
      assert.isTrue(first.complete)
      assert.isTrue(first.more)
      assert.deepStrictEqual(first.oldest_id, Option.some(events[0]?.id ?? ""))
      const second = yield* log.history(org, project, first.events[2]?.id ?? "", 2)
      assert.deepStrictEqual(numbers(second.events), [7, 8])
      assert.isFalse(second.more)
      const all = yield* log.history(org, null, noEvent, 100)
      assert.deepStrictEqual(numbers(all.events), [1, 2, 3, 5, 6, 7, 8, 9])
      const nothing = yield* log.history((yield* fresh).org, null, noEvent, 10)
      assert.deepStrictEqual(nothing.events, [])
      assert.isFalse(nothing.more)
    }))

  it("the history of a scope can be read newest first, in pages, between two ids", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { org, other, project } = yield* fresh
      const events = yield* logged(
        range(1, 9).map((n) => event(org, n % 3 === 0 ? other : project, n, { internal: n === 4 }))
      )
      const id = (n: number) => events[n - 1]?.id ?? ""
      const first = yield* log.newest(org, project, { after: noEvent, before: null }, 2)
      assert.deepStrictEqual(numbers(first.events), [8, 7])
      assert.isTrue(first.more)
      assert.isTrue(first.complete)
      assert.deepStrictEqual(first.oldest_id, Option.some(id(1)))
      const second = yield* log.newest(org, project, { after: noEvent, before: id(7) }, 3)
      assert.deepStrictEqual(numbers(second.events), [5, 2, 1])
      assert.isFalse(second.more)
      const between = yield* log.newest(org, null, { after: id(2), before: id(8) }, 100)
      assert.deepStrictEqual(numbers(between.events), [7, 6, 5, 3])
      const all = yield* log.newest(org, null, { after: noEvent, before: null }, 100)
      assert.deepStrictEqual(numbers(all.events), [9, 8, 7, 6, 5, 3, 2, 1])
      const nothing = yield* log.newest((yield* fresh).org, null, { after: noEvent, before: null }, 10)
      assert.deepStrictEqual(nothing.events, [])
      assert.isFalse(nothing.more)
    }))

  it("trimming removes old events but keeps the newest of each organization", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const [a, b] = [yield* fresh, yield* fresh]
      const events = yield* logged([
        ...range(1, 8).map((n) => event(a.org, a.project, n)),
        event(b.org, null, 9),
        event(b.org, null, 10)
      ])
      const id = (n: number) => events[n - 1]?.id ?? ""
      assert.isAtLeast(yield* log.trim(farAhead, 3), 5)

      const rest = yield* log.window(a.org, 100)
      assert.deepStrictEqual(numbers(rest.events), [6, 7, 8])
      const floor = Option.getOrElse(rest.floor, () => noEvent)
      assert.isTrue(floor >= id(5) && floor < id(6))
      assert.deepStrictEqual([yield* log.headOf(a.org), yield* log.headOf(a.org, id(2))], [id(8), floor])
      assert.deepStrictEqual(numbers((yield* log.window(b.org, 100)).events), [9, 10])
      assert.isTrue(yield* log.scopeHasBetween(a.org, a.project, id(1), id(2)))
      assert.isFalse(yield* log.scopeHasBetween(a.org, a.other, id(6), id(8)))
      const late = yield* log.history(a.org, null, id(2), 10)
      assert.deepStrictEqual(numbers(late.events), [6, 7, 8])
      assert.isFalse(late.complete)
      assert.deepStrictEqual(late.oldest_id, Option.some(id(6)))
      assert.isTrue((yield* log.history(a.org, null, id(6), 10)).complete)
      assert.deepStrictEqual(numbers(yield* log.tail((events[5]?.pos ?? 0) - 1, 3)), [6, 7, 8])
    }))

  it("trimming removes events by age", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { run } = yield* Transaction
      const { org } = yield* fresh
      const at = (n: number, at: DateTime.Utc): EmittedEvent => ({
        ...event(org, null, n),
        region_id: RegionId.make("local"),
        at
      })
      yield* run(log.append([at(1, longAgo), at(2, longAgo), at(3, farAhead)]))
      yield* settle
      yield* log.trim(DateTime.add(longAgo, { days: 1 }), 0)
      assert.deepStrictEqual(numbers((yield* log.window(org, 10)).events), [3])
    }))

  it("ids continue to rise after every event was trimmed", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { org } = yield* fresh
      const [first] = yield* logged([event(org, null, 1)])
      const { pos } = yield* log.head
      yield* log.trim(farAhead, 0)
      assert.isTrue((yield* log.headOf(org)) >= (first?.id ?? ""))
      const [next] = yield* logged([event(org, null, 2)])
      assert.strictEqual(next?.pos, pos + 1)
      assert.isTrue((next?.id ?? "") > (first?.id ?? ""))
    }))

  it("a commit wakes the log's readers", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { org } = yield* fresh
      const woken = yield* Effect.forkChild(Stream.runHead(log.wakeups))
      // The reader may subscribe after a commit and miss that one; it cannot miss all that follow.
      yield* repeatedly(
        "a wake-up of the reader",
        Effect.gen(function* () {
          yield* commit(event(org, null, 1))
          yield* settle
          return woken.pollUnsafe() !== undefined
        })
      )
      assert.lengthOf(yield* log.tail(0, 1), 1)
    }))
})

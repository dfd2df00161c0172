/** A simulation for users: the platform on a clock that a test moves, with faults that a seed repeats. */
import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect } from "effect"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { isFinal } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { Authentication } from "../../src/services/access/Authentication.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { Transaction } from "../../src/Transaction.ts"
import { firstPage } from "../../testing/records.ts"
import { noFaults } from "../../testing/simulation/faults.ts"
import { SimulatedTime } from "../../testing/simulation/SimulatedTime.ts"
import type { Subscriber } from "../../testing/simulation/Subscriber.ts"
import { Simulation, simulation } from "../../testing/simulation/simulation.ts"

const signedIn = Effect.fnUntraced(function* (email: string) {
  const world = yield* Simulation
  const { access_token } = yield* world.signIn(email)
  return yield* (yield* Authentication).authenticate(access_token, null)
})

const created = Effect.fnUntraced(function* (email: string) {
  const caller = yield* signedIn(email)
  const { project } = yield* (yield* Projects).create(caller, { name: "shop", region: null })
  return { caller, project }
})

const operationsOf = (project: Effect.Success<ReturnType<typeof created>>["project"]) =>
  Effect.flatMap(OperationStore, (store) => Effect.map(store.list(project.id, {}, firstPage), ({ items }) => items))

/** The story of a world: its log, ids and instants included. */
const story = Effect.gen(function* () {
  const world = yield* Simulation
  yield* created("ada@example.com")
  yield* world.advance("10 minutes")
  const log = yield* EventLog
  const events = yield* log.tail(0, 1_000)
  return events.map(({ at, data, id, type }) => [id, DateTime.formatIso(at), type, data["status"] ?? null])
})

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

/** The numbers of the test's own events. */
const numbers = ({ received }: Subscriber) =>
  received.filter(({ type }) => type === "test.v1").map(({ data }) => data["n"])

describe("a simulation", () => {
  it.live("at minute 14 the token is refreshed, and at hour 12 it is not", () =>
    Effect.gen(function* () {
      const world = yield* Simulation
      const sessions = yield* Sessions
      const { authenticate } = yield* Authentication
      const first = yield* world.signIn("ada@example.com")
      yield* world.advance("14 minutes")
      const second = yield* sessions.refresh(first.access_token)
      yield* world.advance("2 minutes")
      assert.strictEqual((yield* Effect.flip(authenticate(first.access_token, null)))._tag, "TokenExpired")
      assert.strictEqual((yield* authenticate(second.access_token, null)).user.email, "ada@example.com")
      yield* world.advance(Duration.minutes(12 * 60 - 17))
      const last = yield* sessions.refresh(second.access_token)
      yield* world.advance("1 minute")
      assert.strictEqual((yield* Effect.flip(sessions.refresh(last.access_token)))._tag, "SignInRequired")
    }).pipe(Effect.provide(simulation({ seed: 7 })))
  )

  it.live("a subscriber that does not read gets an overflow with the number of events that it missed", () =>
    Effect.gen(function* () {
      const world = yield* Simulation
      const { emit, run } = yield* Transaction
      const caller = yield* signedIn("ada@example.com")
      const [slow, quick] = [yield* world.follow(caller, { buffer: 1_000 }), yield* world.follow(caller)]
      const send = (from: number, to: number) =>
        Effect.gen(function* () {
          for (let n = from; n < to; n++)
            yield* run(
              emit({
                org_id: caller.org_id,
                project_id: null,
                type: "test.v1",
                source: "test",
                internal: false,
                data: { n }
              })
            )
          yield* world.advance("1 second")
        })
      yield* send(0, 3)
      yield* slow.pause
      yield* send(3, 150)
      yield* slow.resume
      assert.strictEqual(yield* slow.ended, "overflow")
      const overflow = slow.received.at(-1)
      assert.strictEqual(overflow?.type, "overflow.v1")
      const read = numbers(slow)
      assert.deepStrictEqual(read, range(0, read.length))
      const dropped = Number(overflow?.data["dropped"])
      assert.isAbove(dropped, 0)

      // The slow subscriber resumes with the id of the overflow, and gets every later event.
      const again = yield* world.follow(caller, { last_event_id: overflow?.id ?? "" })
      yield* send(150, 153)
      assert.deepStrictEqual(numbers(again), range(read.length + dropped, 153))
      assert.deepStrictEqual(numbers(quick), range(0, 153))
      assert.isUndefined(quick.closing)
    }).pipe(Effect.provide(simulation({ faults: noFaults, events: { ring_events: 64 } })))
  )

  it.live("operations are tried again while machines fail, until they end", () =>
    Effect.gen(function* () {
      const world = yield* Simulation
      const made = yield* Effect.forEach(range(0, 6), (n) => created(`user${n}@example.com`))
      yield* world.advance("10 minutes")
      const operations = (yield* Effect.forEach(made, ({ project }) => operationsOf(project))).flat()
      assert.lengthOf(
        operations.filter(({ status }) => isFinal(status)),
        operations.length
      )
      assert.isTrue(operations.some((it) => it.status === "finished" && it.failures_count > 0))
    }).pipe(Effect.provide(simulation({ seed: 3, faults: { compute: 0.3 } })))
  )

  it.live("two simulations of one seed have the same story, and another seed has another", () =>
    Effect.gen(function* () {
      const told = (seed: number) => Effect.provide(story, simulation({ seed }), { local: true })
      const [first, again, other] = [yield* told(11), yield* told(11), yield* told(12)]
      assert.isAtLeast(first.length, 3)
      assert.deepStrictEqual(again, first)
      assert.notDeepEqual(other, first)
    })
  )

  it.live("storage that fails as often as a seed has it fails calls, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const world = yield* Simulation
      const outcomes = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, n) => n),
        (n) => Effect.map(Effect.result(world.signIn(`user${n}@example.com`)), (it) => it._tag)
      )
      const failed = outcomes.filter((tag) => tag === "Failure").length
      assert.isAbove(failed, 4)
      assert.isBelow(failed, 36)
    }).pipe(Effect.provide(simulation({ faults: { storage: 0.5 } })))
  )

  it.live("time passes only by advancing, and a timer is late by a step at most", () =>
    Effect.gen(function* () {
      const world = yield* Simulation
      const before = yield* DateTime.now
      assert.strictEqual(DateTime.formatIso(before), "2026-01-01T00:00:00.000Z")
      const woken: Array<number> = []
      const note = Effect.map(DateTime.now, (now) => woken.push(now.epochMilliseconds - before.epochMilliseconds))
      yield* Effect.forkChild(
        Effect.andThen(
          Effect.sleep("61 minutes"),
          Effect.andThen(note, Effect.andThen(Effect.sleep("1 second"), note))
        ),
        {
          startImmediately: true
        }
      )
      yield* world.advance("59 minutes")
      assert.deepStrictEqual(woken, [])
      yield* world.advance("60 minutes")
      // The second sleep begins within a step of a minute, and ends at its end.
      assert.deepStrictEqual(
        woken.map((at) => at / 60_000),
        [61, 62]
      )
      const after = yield* DateTime.now
      assert.strictEqual(after.epochMilliseconds - before.epochMilliseconds, 119 * 60_000)
    }).pipe(Effect.provide(simulation()))
  )

  it.live("a loop rests while nothing happens, and looks at the end in any case", () =>
    Effect.gen(function* () {
      const world = yield* Simulation
      const { emit, run } = yield* Transaction
      const { org_id } = yield* signedIn("ada@example.com")
      const before = yield* DateTime.now
      let looks: Array<number> = []
      const look = Effect.map(DateTime.now, (now) =>
        looks.push(Math.floor((now.epochMilliseconds - before.epochMilliseconds) / 60_000))
      )
      const event = { org_id, project_id: null, type: "test.v1", source: "test", internal: false, data: {} }
      yield* Effect.forkChild(Effect.forever(Effect.andThen(Effect.sleep("1 second"), look)), {
        startImmediately: true
      })
      yield* Effect.forkChild(Effect.andThen(Effect.sleep("29 minutes"), run(emit(event))), { startImmediately: true })
      yield* world.advance("1 hour")
      // The first sleep began before time passed in steps.
      assert.deepStrictEqual(looks, [0, 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 35, 39, 43, 47, 51, 55, 59, 60])
      looks = []
      yield* world.advance("3 minutes", "1 minute")
      assert.deepStrictEqual(looks, [60, 61, 62, 63])
    }).pipe(Effect.provide(simulation({ faults: noFaults })))
  )

  it.live("twelve hours in which nothing happens end at most 360 sleeps, of all loops together", () =>
    Effect.gen(function* () {
      const world = yield* Simulation
      const { wakeUps } = yield* SimulatedTime
      yield* world.signIn("ada@example.com")
      const before = yield* wakeUps
      yield* world.advance("12 hours")
      assert.isAtMost((yield* wakeUps) - before, 360)
    }).pipe(Effect.provide(simulation({ faults: noFaults })))
  )
})

describe("a simulation under node:test", () => {
  it.live("twelve hours pass, and the test ends", () =>
    Effect.gen(function* () {
      const program = resolve(import.meta.dirname, "onNodeTest.ts")
      const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
      const { stdout } = yield* Effect.promise(() =>
        promisify(execFile)(process.execPath, ["--conditions=source", "--test-reporter=tap", program], { env })
      )
      assert.match(stdout, /^# pass 1$/m)
    })
  )
})

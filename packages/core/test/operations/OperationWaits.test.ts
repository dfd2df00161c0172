/** Waits for operations: what they cost storage, when they end, and how many there may be. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { EventFeed } from "../../src/records/events/EventFeed.ts"
import { StoredOperation } from "../../src/records/operations/Operation.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import { Operations } from "../../src/services/operations/Operations.ts"
import { OperationWaits } from "../../src/services/operations/OperationWaits.ts"
import { WaitLimit } from "../../src/services/operations/WaitLimits.ts"
import { Transaction } from "../../src/Transaction.ts"
import { anOperation, anOrgId, aProjectId, aUser } from "../../testing/records.ts"
import { keyOf, person } from "../authorization/callers.ts"

/** How often an operation was read. */
class Reads extends Context.Service<Reads, { count: number }>()("test/Reads") {}

const counting = Layer.effect(
  OperationStore,
  Effect.gen(function* () {
    const store = yield* OperationStore
    const reads = yield* Reads
    return OperationStore.of({
      ...store,
      find: (id) =>
        Effect.suspend(() => {
          reads.count += 1
          return store.find(id)
        })
    })
  })
)

const Waits = OperationWaits.layer.pipe(
  Layer.provideMerge(Operations.layer),
  Layer.provideMerge(EventFeed.layer),
  Layer.provideMerge(counting),
  Layer.provideMerge(Layer.sync(Reads, () => ({ count: 0 }))),
  Layer.provideMerge(layerMemoryPorts)
)

const inserted = Effect.gen(function* () {
  const operation = anOperation(aProjectId(), null)
  yield* (yield* OperationStore).insert(operation)
  yield* (yield* EventFeed).ready
  return operation
})

/** Starts so many waits of a minute, and returns when all of them wait. */
const waiting = (operation: StoredOperation, count: number) =>
  Effect.gen(function* () {
    const { settled } = yield* OperationWaits
    const fiber = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: count }), () => settled(operation.id, Duration.minutes(1)), {
        concurrency: "unbounded"
      })
    )
    yield* TestClock.adjust(0)
    return fiber
  })

/** Moves the operation, and lets the feed deliver the event. */
const moved = (operation: StoredOperation, status: "running" | "finished") =>
  Effect.gen(function* () {
    const { move } = yield* Operations
    const after = yield* (yield* Transaction).run(move(operation, status))
    yield* (yield* EventFeed).refresh
    yield* TestClock.adjust(0)
    return after
  })

const statuses = (found: ReadonlyArray<Option.Option<StoredOperation>>) =>
  new Set(found.map((it) => Option.match(it, { onNone: () => "none", onSome: ({ status }) => status })))

describe("Waits for operations", () => {
  it.effect("the hint of the end of an operation ends its waits, without its event and without a read", () =>
    Effect.gen(function* () {
      const operation = yield* inserted
      const reads = yield* Reads
      const { hint } = yield* Operations
      const fiber = yield* waiting(operation, 3)
      const before = reads.count
      yield* hint(new StoredOperation({ ...operation, status: "finished" }))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(statuses(yield* Fiber.join(fiber)), new Set(["finished"]))
      assert.strictEqual(reads.count, before)
    }).pipe(Effect.provide(Waits))
  )

  it.effect("the hint of a change that is not the end ends no wait", () =>
    Effect.gen(function* () {
      const operation = yield* inserted
      const { hint } = yield* Operations
      const fiber = yield* waiting(operation, 1)
      yield* hint(new StoredOperation({ ...operation, status: "running" }))
      yield* hint(anOperation(operation.project_id, null, { status: "finished" }))
      yield* TestClock.adjust(0)
      assert.isUndefined(fiber.pollUnsafe())
      yield* moved(yield* moved(operation, "running"), "finished")
      assert.deepStrictEqual(statuses(yield* Fiber.join(fiber)), new Set(["finished"]))
    }).pipe(Effect.provide(Waits))
  )

  it.effect("1,500 waits of one operation read it as often as one wait does, and end when it does", () =>
    Effect.gen(function* () {
      const operation = yield* inserted
      const reads = yield* Reads
      const fiber = yield* waiting(operation, 1_500)
      assert.strictEqual(reads.count, 1)
      const running = yield* moved(operation, "running")
      assert.strictEqual(reads.count, 2)
      yield* TestClock.adjust("20 seconds")
      assert.isAtMost(reads.count, 2 + 4, "every five seconds without an event")
      const before = reads.count
      yield* moved(running, "finished")
      assert.deepStrictEqual(statuses(yield* Fiber.join(fiber)), new Set(["finished"]))
      assert.strictEqual(reads.count, before + 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(reads.count, before + 1, "an operation that no call waits for is not read")
    }).pipe(Effect.provide(Waits))
  )

  it.effect("events of other operations cause no read", () =>
    Effect.gen(function* () {
      const [operation, other] = [yield* inserted, yield* inserted]
      const reads = yield* Reads
      const fiber = yield* waiting(operation, 10)
      yield* moved(yield* moved(other, "running"), "finished")
      assert.strictEqual(reads.count, 1)
      yield* Fiber.interrupt(fiber)
    }).pipe(Effect.provide(Waits))
  )

  it.effect("a wait ends at its time with the newest state, and leaves the others waiting", () =>
    Effect.gen(function* () {
      const operation = yield* inserted
      const { settled } = yield* OperationWaits
      const reads = yield* Reads
      const long = yield* waiting(operation, 5)
      const short = yield* Effect.forkChild(settled(operation.id, Duration.seconds(10)))
      yield* TestClock.adjust(0)
      const running = yield* moved(operation, "running")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(statuses([yield* Fiber.join(short)]), new Set(["running"]))
      assert.isUndefined(long.pollUnsafe())
      yield* moved(running, "finished")
      assert.deepStrictEqual(statuses(yield* Fiber.join(long)), new Set(["finished"]))
      assert.isAtMost(reads.count, 3 + 2)
    }).pipe(Effect.provide(Waits))
  )

  it.effect("a missed event delays a wait by five seconds", () =>
    Effect.gen(function* () {
      const operation = yield* inserted
      const store = yield* OperationStore
      const fiber = yield* waiting(operation, 3)
      yield* store.update(new StoredOperation({ ...operation, status: "finished" })) // without its event
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(statuses(yield* Fiber.join(fiber)), new Set(["finished"]))
    }).pipe(Effect.provide(Waits))
  )

  it.effect("the waits of a caller, of an organization and of the instance are limited; a place is given back", () =>
    Effect.gen(function* () {
      const operation = yield* inserted
      const { settledFor } = yield* OperationWaits
      const wait = (caller: AnyCaller) =>
        Effect.forkChild(Effect.result(settledFor(caller, operation.id, Duration.minutes(1))), {
          startImmediately: true
        })
      const refused = (caller: AnyCaller) =>
        Effect.map(Effect.flip(settledFor(caller, operation.id, Duration.minutes(1))), (error) =>
          error._tag === "TooManyWaits" ? `${error.limit} ${error.held} of ${error.allowed}` : error._tag
        )
      const ada = person("owner", "active")
      const key = keyOf(ada, "read", { type: "organization" })
      const bob = { ...person("member", "active"), user: aUser() }
      const eve = { ...person("owner", "active"), user: aUser(), org_id: anOrgId() }
      const first = yield* wait(ada)
      yield* wait(ada)
      assert.strictEqual(yield* refused(ada), "caller 2 of 2")
      yield* wait(key)
      assert.strictEqual(yield* refused(bob), "organization 3 of 3")
      yield* wait(eve)
      assert.strictEqual(yield* refused(eve), "instance 4 of 4")
      yield* Fiber.interrupt(first)
      const again = yield* wait(ada)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(again))._tag, "Success")
    }).pipe(Effect.provideService(WaitLimit, { waits: 2, org_waits: 3, instance_waits: 4 }), Effect.provide(Waits))
  )
})

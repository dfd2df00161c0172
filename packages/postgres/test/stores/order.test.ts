/** Contracts that only several connections can test: which transactions wait for which, and which do not. */
import { assert, layer } from "@effect/vitest"
import { OperationStore, Transaction } from "@narthex/core"
import { aBranchId, aClaim, anOperation, aProjectId, at } from "@narthex/core/testing"
import { Deferred, Effect, Fiber, Option } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Database } from "../../src/index.ts"
import { isAwaited, ownBackend } from "../support/observe.ts"
import { onPostgres } from "./onPostgres.ts"

/** A transaction that has done its work and remains open until `leave`. */
const held = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { run } = yield* Transaction
    const inside = yield* Deferred.make<number>()
    const leave = yield* Deferred.make<void>()
    const stop = Effect.gen(function* () {
      yield* Deferred.succeed(inside, yield* ownBackend)
      yield* Deferred.await(leave)
    })
    const fiber = yield* Effect.forkChild(run(Effect.tap(work, stop)))
    const backend = yield* Deferred.await(inside)
    return { backend, leave: Effect.andThen(Deferred.succeed(leave, undefined), Fiber.join(fiber)) }
  })

layer(onPostgres, { excludeTestServices: true })("operations on several connections", (it) => {
  it.effect("a claim does not wait for a transaction that has locked an operation", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const [a, b] = [anOperation(aProjectId(), aBranchId()), anOperation(aProjectId(), aBranchId())]
      yield* store.insert(a)
      yield* store.insert(b)
      const claim = Effect.map(
        store.claim({ ...aClaim("branches"), worker: "w", now: at(0), lease_until: at(30) }),
        Option.map((it) => it.id)
      )
      const first = yield* held(store.lock(a.id))
      assert.deepStrictEqual(yield* claim, Option.some(b.id))
      assert.deepStrictEqual(yield* claim, Option.none())
      yield* first.leave
      assert.deepStrictEqual(yield* claim, Option.some(a.id))
    })
  )

  it.effect("a locked operation is not waited for", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const operation = anOperation(aProjectId(), aBranchId())
      yield* store.insert(operation)
      const first = yield* held(store.lock(operation.id))
      assert.deepStrictEqual(yield* store.lockFree(operation.id), Option.none())
      yield* first.leave
      assert.deepStrictEqual(yield* store.lockFree(operation.id), Option.some(operation))
    })
  )

  /**
   * The trigger of the table waits for the same lock, but after the row has its position: two inserts could then commit
   * in the order opposite to their positions.
   */
  it.effect("an insert waits, before it has a position, for earlier ones of its branch and for no other branch", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const lastPosition = Effect.map(
        query<{ readonly last: string }>(
          "test",
          "select pg_sequence_last_value(pg_get_serial_sequence('narthex.operation', 'position')) as last"
        ),
        ([row]) => row?.last
      )
      const store = yield* OperationStore
      const branch = aBranchId()
      const [first, second] = [anOperation(aProjectId(), branch), anOperation(aProjectId(), branch)]
      const open = yield* held(store.insert(first))
      yield* store.insert(anOperation(aProjectId(), aBranchId()))
      const before = yield* lastPosition
      const waiting = yield* Effect.forkChild(store.insert(second))
      yield* eventually(
        "the second insert to finish, or to wait for the first",
        Effect.map(isAwaited(open.backend), (waits) => waits || waiting.pollUnsafe() !== undefined)
      )
      assert.isUndefined(waiting.pollUnsafe(), "it waits")
      assert.strictEqual(yield* lastPosition, before)
      assert.deepStrictEqual(yield* store.unfinished(branch), [])
      yield* open.leave
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(yield* store.unfinished(branch), [first, second])
    })
  )
})

layer(onPostgres, { excludeTestServices: true })("an operation that is alone", (it) => {
  it.effect("an operation is claimed by one of two workers, even while the other's claim is uncommitted", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const claimBy = (worker: string) =>
        Effect.map(store.claim({ ...aClaim("branches"), worker, now: at(100), lease_until: at(200) }), Option.isSome)
      yield* store.insert(anOperation(aProjectId(), null))
      const first = yield* held(claimBy("first"))
      const second = yield* Effect.forkChild(claimBy("second"))
      yield* eventually(
        "the second claim to finish, or to wait for the first",
        Effect.map(isAwaited(first.backend), (waits) => waits || second.pollUnsafe() !== undefined)
      )
      assert.isTrue(yield* first.leave)
      assert.isFalse(yield* Fiber.join(second))
    })
  )
})

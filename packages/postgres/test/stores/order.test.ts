/** Contracts that only several connections can test: which transactions wait for which, and which do not. */
import { assert, layer } from "@effect/vitest"
import { OperationStore, Transaction } from "@narthex/core"
import { aBranchId, aClaim, anOperation, aProjectId, at } from "@narthex/core/testing"
import { Deferred, Effect, Fiber, Option } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { shows } from "../support/observe.ts"
import { onPostgres } from "./onPostgres.ts"

/** A transaction that has done its work and remains open until `leave`. */
const held = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { run } = yield* Transaction
    const inside = yield* Deferred.make<void>()
    const leave = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkChild(
      run(work.pipe(Effect.tap(Deferred.succeed(inside, undefined)), Effect.tap(Deferred.await(leave))))
    )
    yield* Deferred.await(inside)
    return { leave: Effect.andThen(Deferred.succeed(leave, undefined), Fiber.join(fiber)) }
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

  it.effect("an insert of an operation waits until earlier ones on the branch are committed", () =>
    Effect.gen(function* () {
      const store = yield* OperationStore
      const branch = aBranchId()
      const [first, second] = [anOperation(aProjectId(), branch), anOperation(aProjectId(), branch)]
      const open = yield* held(store.insert(first))
      const waiting = yield* Effect.forkChild(store.insert(second))
      yield* eventually(
        "the second insert to wait for the first",
        shows("wait_event_type = 'Lock' and wait_event = 'advisory'")
      )
      assert.deepStrictEqual(yield* store.unfinished(branch), [])
      yield* open.leave
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(yield* store.unfinished(branch), [first, second])
    })
  )
})

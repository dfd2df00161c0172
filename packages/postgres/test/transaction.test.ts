/** Transactions: atomicity, joining, failures that were caught, deadlocks, loss of the connection, interruption. */
import { assert, layer } from "@effect/vitest"
import { StorageError } from "@narthex/core"
import { Deferred, Effect, Fiber, Ref } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { Database, uniqueViolation } from "../src/index.ts"
import { insert, numbers, shows, table } from "./support/observe.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { emptyDatabase } from "./support/TestDatabase.ts"

layer(emptyDatabase, { excludeTestServices: true })("Database.transaction", (it) => {
  it.effect("a transaction commits everything or nothing", () =>
    Effect.gen(function* () {
      const { transaction } = yield* Database
      yield* table("whole")
      const both = (second: number) => transaction(Effect.andThen(insert("whole", 1), insert("whole", second)))
      assert.strictEqual(uniqueViolation(yield* Effect.flip(both(1))), "whole_n")
      assert.deepStrictEqual(yield* numbers("whole"), [])
      yield* both(2)
      assert.deepStrictEqual(yield* numbers("whole"), [1, 2])
    })
  )

  it.effect("a transaction hides its changes until the commit and passes a failure of its work on unchanged", () =>
    Effect.gen(function* () {
      const { transaction } = yield* Database
      yield* table("hidden")
      const inside = yield* Deferred.make<void>()
      const outside = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        transaction(
          insert("hidden", 1).pipe(
            Effect.andThen(Deferred.succeed(inside, undefined)),
            Effect.andThen(Deferred.await(outside)),
            Effect.andThen(Effect.fail("conflict" as const))
          )
        )
      )
      yield* Deferred.await(inside)
      assert.deepStrictEqual(yield* numbers("hidden"), [])
      yield* Deferred.succeed(outside, undefined)
      assert.strictEqual(yield* Effect.flip(Fiber.join(fiber)), "conflict")
      assert.deepStrictEqual(yield* numbers("hidden"), [])
    })
  )

  it.effect("a transaction is READ COMMITTED, whatever the server's default is", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      const [level] = yield* transaction(query("test", "show transaction_isolation"))
      assert.deepStrictEqual(level, { transaction_isolation: "read committed" })
    })
  )

  it.effect("a transaction inside another one joins it", () =>
    Effect.gen(function* () {
      const { transaction } = yield* Database
      yield* table("joined")
      const outer = transaction(Effect.andThen(transaction(insert("joined", 1)), Effect.fail("later")))
      assert.strictEqual(yield* Effect.flip(outer), "later")
      assert.deepStrictEqual(yield* numbers("joined"), [])
    })
  )

  it.effect("a transaction with a failed statement commits nothing, even when the failure was caught", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      yield* table("doomed")
      const failures = [transaction(Effect.fail("inner")), query("test", "select 1/0"), insert("doomed", 1)]
      for (const failure of failures) {
        const error = yield* Effect.flip(transaction(Effect.andThen(insert("doomed", 1), Effect.exit(failure))))
        assert.instanceOf(error, StorageError)
      }
      assert.deepStrictEqual(yield* numbers("doomed"), [])
    })
  )

  it.effect("a transaction that is interrupted during a statement rolls back", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      yield* table("interrupted")
      const work = Effect.andThen(insert("interrupted", 1), query("test", "select pg_sleep(60), 'in the middle'"))
      const fiber = yield* Effect.forkChild(transaction(work))
      yield* eventually(
        "the statement in the middle to run",
        shows("state = 'active' and query like '%in the middle%'")
      )
      yield* Fiber.interrupt(fiber)
      assert.isFalse(yield* shows("state like '%in transaction%' or query like '%in the middle%' and state = 'active'"))
      assert.deepStrictEqual(yield* numbers("interrupted"), [])
    })
  )

  it.effect("after a deadlock the work runs again, so that both transactions commit", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      yield* table("crossed")
      yield* insert("crossed", 1)
      yield* insert("crossed", 2)
      const runs = yield* Ref.make(0)
      const both = yield* Deferred.make<void>()
      const add = (n: number) => query("test", "update crossed set v = v + 1 where n = $1", [n])
      // Each holds its first row before either asks for its second.
      const crossing = (first: number, second: number) =>
        transaction(
          Effect.gen(function* () {
            yield* add(first)
            if ((yield* Ref.updateAndGet(runs, (n) => n + 1)) === 2) yield* Deferred.succeed(both, undefined)
            yield* Deferred.await(both)
            yield* add(second)
          })
        )
      yield* Effect.all([crossing(1, 2), crossing(2, 1)], { concurrency: 2 })
      assert.isAtLeast(yield* Ref.get(runs), 3)
      assert.deepStrictEqual(yield* query("test", "select v from crossed"), [{ v: 2 }, { v: 2 }])
    })
  )

  it.effect("a lost connection fails the transaction without a defect and without a second run", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      const { admin } = yield* PostgresServer
      yield* table("lost")
      const runs = yield* Ref.make(0)
      const work = Effect.gen(function* () {
        yield* Ref.update(runs, (n) => n + 1)
        yield* insert("lost", 1)
        const [me] = yield* query<{ readonly pid: number }>("test", "select pg_backend_pid() as pid")
        yield* admin(`select pg_terminate_backend(${me?.pid})`)
        yield* insert("lost", 2)
      })
      assert.instanceOf(yield* Effect.flip(transaction(work)), StorageError)
      assert.strictEqual(yield* Ref.get(runs), 1)
      assert.deepStrictEqual(yield* numbers("lost"), [])
    })
  )

  it.effect("a violation that only the commit detects is reported", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      yield* query("test", "create table late (n int constraint late_n unique deferrable initially deferred)")
      const twice = Effect.andThen(insert("late", 1), insert("late", 1))
      assert.strictEqual(uniqueViolation(yield* Effect.flip(transaction(twice))), "late_n")
      assert.deepStrictEqual(yield* numbers("late"), [])
    })
  )

  it.effect("a statement after the end of its transaction does not join it", () =>
    Effect.gen(function* () {
      const { transaction } = yield* Database
      yield* table("afterwards")
      const ended = yield* Deferred.make<void>()
      const late = Effect.andThen(Deferred.await(ended), insert("afterwards", 1))
      const fiber = yield* transaction(Effect.forkDetach(late))
      yield* Deferred.succeed(ended, undefined)
      assert.instanceOf(yield* Effect.flip(Fiber.join(fiber)), StorageError)
      assert.deepStrictEqual(yield* numbers("afterwards"), [])
    })
  )
})

/** An advisory lock that another transaction holds until `release`. `key` is a number, or an expression of SQL. */
import { Deferred, Effect, Fiber } from "effect"
import { Database } from "../../src/database/Database.ts"
import { ownBackend } from "./observe.ts"

export const heldLock = (key: number | string) =>
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    const lock = query("test", `select pg_advisory_xact_lock(${key})::text`)
    const [held, release] = [yield* Deferred.make<number>(), yield* Deferred.make<void>()]
    const hold = Effect.gen(function* () {
      yield* lock
      yield* Deferred.succeed(held, yield* ownBackend)
      yield* Deferred.await(release)
    })
    const holder = yield* Effect.forkChild(transaction(hold))
    return {
      /** The server process that holds it. */
      backend: yield* Deferred.await(held),
      /** Waits for the lock in the transaction of the caller. */
      lock,
      release: Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(holder))
    }
  })

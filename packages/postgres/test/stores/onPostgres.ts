/**
 * Every port on a migrated database of its own. Its connections are open beforehand: a pool that still grows serves
 * parallel work one after another, and would hide what the contracts look for.
 */
import { Deferred, Effect, Layer } from "effect"
import { Database, PostgresStorage } from "../../src/index.ts"
import { connections, testDatabase } from "../support/TestDatabase.ts"

/** All at once: each transaction waits for the others, so each has a connection of its own. */
const opened = Layer.effectDiscard(
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    const all = yield* Deferred.make<void>()
    let arrived = 0
    const one = Effect.gen(function* () {
      yield* query("open", "select 1")
      arrived += 1
      if (arrived === connections) yield* Deferred.succeed(all, undefined)
      yield* Deferred.await(all)
    })
    yield* Effect.forEach(Array.from({ length: connections }), () => transaction(one), { concurrency: "unbounded" })
  })
)

export const onPostgres = Layer.merge(PostgresStorage.layer, opened).pipe(Layer.provideMerge(testDatabase))

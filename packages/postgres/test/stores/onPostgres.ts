/**
 * Every port on a separate migrated database. All connections are opened beforehand: a pool that is still growing runs
 * parallel work sequentially and would hide the races that the contracts test.
 */
import { Deferred, Effect, Layer } from "effect"
import { Database, PostgresStorage } from "../../src/index.ts"
import { connections, testDatabase } from "../support/TestDatabase.ts"

/** Opens all connections: each transaction waits for the others, so each holds another connection. */
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

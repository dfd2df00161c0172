/**
 * Every port on a migrated database of its own. Its connections are open beforehand: a pool that still grows serves
 * parallel work one after another, and would hide what the contracts look for.
 */
import { Effect, Layer } from "effect"
import { Database, PostgresStorage } from "../../src/index.ts"
import { testDatabase } from "../support/TestDatabase.ts"

const opened = Layer.effectDiscard(
  Effect.flatMap(Database, ({ query }) =>
    Effect.forEach(
      Array.from({ length: 10 }),
      () => query("open", "select pg_sleep(0.05)::text"), // long enough that each needs a connection of its own
      { concurrency: "unbounded" }
    )
  )
)

export const onPostgres = Layer.merge(PostgresStorage.layer, opened).pipe(Layer.provideMerge(testDatabase))

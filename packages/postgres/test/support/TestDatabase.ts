/** An empty database of its own for a block of tests, and our service on it. */
import { Effect, Layer } from "effect"
import { Database } from "../../src/Database.ts"
import { migrate } from "../../src/migrate.ts"
import { PostgresServer } from "./PostgresServer.ts"
import { silent } from "./silent.ts"

const fresh = Layer.unwrap(
  Effect.gen(function* () {
    const { database } = yield* PostgresServer
    return Database.layer({ url: yield* database, maxConnections: 10, applicationName: "narthex-test" })
  })
)

const migrated = Layer.effectDiscard(Effect.provide(migrate, silent))

/** Not migrated. */
export const emptyDatabase = Layer.provideMerge(fresh, PostgresServer.layer)

/** With our schema. */
export const testDatabase = Layer.provideMerge(migrated, emptyDatabase)

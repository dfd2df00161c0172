/** A separate empty database for a block of tests, and the service `Database` on it. */
import { Effect, Layer } from "effect"
import { Database } from "../../src/database/Database.ts"
import { migrate } from "../../src/migrate.ts"
import { PostgresServer } from "./PostgresServer.ts"
import { silent } from "./silent.ts"

/** The size of the pool. */
export const connections = 10

const fresh = Layer.unwrap(
  Effect.gen(function* () {
    const { database } = yield* PostgresServer
    return Database.layer({ url: yield* database, maxConnections: connections, applicationName: "narthex-test" })
  })
)

const migrated = Layer.effectDiscard(Effect.provide(migrate, silent))

/** Not migrated, on the shared server. */
export const emptyDatabase = Layer.provideMerge(fresh, PostgresServer.layer)

/** With Narthex's schema, on the shared server. */
export const testDatabase = Layer.provideMerge(migrated, emptyDatabase)

/** Not migrated, on a server that the test may stop. */
export const emptyOwnDatabase = Layer.provideMerge(fresh, PostgresServer.layerOwn)

/** With Narthex's schema, on a server that the test may stop. */
export const testOwnDatabase = Layer.provideMerge(migrated, emptyOwnDatabase)

/** A separate empty database for a block of tests, and the service `Database` on it. */
import { Effect, Layer } from "effect"
import { Database } from "../../src/database/Database.ts"
import { migrate } from "../../src/migrate.ts"
import { PostgresServer } from "./PostgresServer.ts"
import { silent } from "./silent.ts"

/** The size of the pool. */
export const connections = 10

const fresh = (which: "database" | "migrated") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const url = yield* (yield* PostgresServer)[which]
      return Database.layer({ url, maxConnections: connections, applicationName: "narthex-test" })
    })
  )

const migrated = Layer.effectDiscard(Effect.provide(migrate, silent))

/** Not migrated, on the shared server. */
export const emptyDatabase = Layer.provideMerge(fresh("database"), PostgresServer.layer)

/** With Narthex's schema, on the shared server. */
export const testDatabase = migrated.pipe(
  Layer.provideMerge(fresh("migrated")),
  Layer.provideMerge(PostgresServer.layer)
)

/** Not migrated, on a server that the test may stop. */
export const emptyOwnDatabase = Layer.provideMerge(fresh("database"), PostgresServer.layerOwn)

/** With Narthex's schema, on a server that the test may stop. */
export const testOwnDatabase = Layer.provideMerge(migrated, emptyOwnDatabase)

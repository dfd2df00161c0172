/**
 * One superuser session on a cluster, for as long as the given effect runs.
 *
 * The kernel vouches for us (`peer`), so there is no password anywhere. The socket is addressed through an open
 * descriptor of its directory: a path of any length fits into the 107 bytes that a socket address has.
 */
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import { type Cluster, socketName, superuser } from "./Cluster.ts"
import { attempt, LocalPostgresError } from "../machine/LocalPostgresError.ts"

export const asSupervisor = <A, E, R>(
  cluster: Cluster,
  database: string,
  use: (sql: PgClient.PgClient) => Effect.Effect<A, E | SqlError.SqlError, R>
) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      attempt(`Opening ${cluster.run}`, () => open(cluster.run, constants.O_RDONLY | constants.O_DIRECTORY)),
      (handle) => Effect.promise(() => handle.close())
    )
    const sql = yield* PgClient.makeClient({
      path: `/proc/self/fd/${directory.fd}/${socketName}`,
      database,
      username: superuser,
      applicationName: "narthex supervisor",
      startupParameters: {
        // Users own the schema `public`: a function of theirs must not be what a superuser's statement calls.
        search_path: "pg_catalog, pg_temp",
        // A statement that fails would be logged whole, and some of ours carry a verifier.
        log_min_error_statement: "panic"
      }
    })
    return yield* use(sql)
  }).pipe(
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.catchIf(isSqlError, (error) =>
      Effect.fail(new LocalPostgresError({ operation: `A query on ${cluster.directory}`, reason: describe(error) }))
    )
  )

const isSqlError = (error: unknown): error is SqlError.SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

const describe = (error: SqlError.SqlError) => {
  const { cause } = error.reason
  return cause instanceof Error ? cause.message : error.message
}

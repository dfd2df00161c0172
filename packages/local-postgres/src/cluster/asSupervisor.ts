/**
 * Runs an effect with a superuser session on a cluster. The session proves the cluster's secret (`SupervisorSecret`).
 *
 * The socket is addressed through an open descriptor of its directory, so that a path of any length fits into the 107
 * bytes of a socket address.
 *
 * Every wait of the session is bounded: a tenant can hold locks and fill slots.
 */
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { PgClient } from "@effect/sql-pg"
import { type AsSuperuser, type SessionLimits, sqlstateOf } from "@narthex/compute-roles"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql"
import { attempt, LocalPostgresError } from "../machine/LocalPostgresError.ts"
import { type Cluster, socketName, superuser } from "./Cluster.ts"
import { renewAtStart, secretOf } from "./SupervisorSecret.ts"

const shortStatements: SessionLimits = { statement_timeout: "30s", lock_timeout: "1s" }
const connectWithin = "15 seconds"

export const asSupervisor = <A, E, R>(
  cluster: Cluster,
  database: string,
  use: (sql: PgClient.PgClient) => Effect.Effect<A, E | SqlError.SqlError, R>,
  limits: SessionLimits = shortStatements
) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      attempt(`Opening ${cluster.run}`, () => open(cluster.run, constants.O_RDONLY | constants.O_DIRECTORY)),
      (handle) => Effect.promise(() => handle.close())
    )
    const password = yield* secretOf(cluster)
    const sql = yield* PgClient.makeClient({
      path: `/proc/self/fd/${directory.fd}/${socketName}`,
      database,
      username: superuser,
      password,
      applicationName: "narthex supervisor",
      connectTimeout: connectWithin,
      startupParameters: {
        // Users own the schema `public`: the superuser's statements must not call their functions.
        search_path: "pg_catalog, pg_temp",
        // Postgres would log a failed statement with its text, and some statements contain a verifier.
        log_min_error_statement: "panic",
        ...limits
      }
    })
    return yield* use(sql)
  }).pipe(
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.catchIf(isSqlError, (error) =>
      Effect.andThen(
        sqlstateOf(error) === wrongSecret ? renewAtStart(cluster) : Effect.void,
        new LocalPostgresError({
          operation: `A query on ${cluster.directory}`,
          reason: describe(error),
          sqlstate: sqlstateOf(error)
        })
      )
    )
  )

/** Postgres' answer to a secret that is not that of the data. */
const wrongSecret = "28P01"

const isSqlError = (error: unknown): error is SqlError.SqlError =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "SqlError"

const describe = (error: SqlError.SqlError) => {
  const { cause } = error.reason
  return cause instanceof Error ? cause.message : error.message
}

/** Sessions for roles on the cluster. */
export const superuserOn =
  (cluster: Cluster): AsSuperuser<LocalPostgresError> =>
  (use, limits) =>
    asSupervisor(cluster, "postgres", use, limits)

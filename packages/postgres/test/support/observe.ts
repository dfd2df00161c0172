/**
 * Queries on the state of the test's database, and waits for it.
 *
 * Pitfall: reading `pg_stat_activity` without a condition on the database. Other test files work on the same server.
 */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"

/** Creates a table for a test: `n` unique, `v` zero. */
export const table = (name: string) =>
  Effect.flatMap(Database, ({ query }) =>
    query("test", `create table ${name} (n int constraint ${name}_n primary key, v int not null default 0)`)
  )

export const insert = (name: string, n: number) =>
  Effect.flatMap(Database, ({ query }) => query("test", `insert into ${name} values ($1)`, [n]))

/** The `n` in the table, in order. */
export const numbers = (name: string) =>
  Effect.flatMap(Database, ({ query }) =>
    Effect.map(query<{ readonly n: number }>("test", `select n from ${name} order by n`), (found) =>
      found.map((row) => row.n)
    )
  )

/** Whether another session of this database fulfils `condition`, over `pg_stat_activity`. */
export const shows = (condition: string) =>
  Effect.flatMap(Database, ({ query }) =>
    Effect.map(
      query(
        "test",
        `select 1 from pg_stat_activity
         where pid <> pg_backend_pid() and datname = current_database() and (${condition})`
      ),
      (found) => found.length > 0
    )
  )

/** The server process of the transaction that asks. */
export const ownBackend = Effect.flatMap(Database, ({ query }) =>
  Effect.map(query<{ readonly pid: number }>("test", "select pg_backend_pid() as pid"), ([row]) => row?.pid ?? 0)
)

/** The condition on a session, over `pg_stat_activity`, that it waits for a lock of this server process. */
export const awaits = (backend: number) => `${backend} = any (pg_blocking_pids(pid))`

/**
 * Whether a session waits for a lock of this server process.
 *
 * Pitfall: asking whether any session waits for a lock. The event log's own sessions also wait for each other.
 */
export const isAwaited = (backend: number) => shows(awaits(backend))

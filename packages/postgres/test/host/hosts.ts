/** Hosts: programs with a database driver of their own, which begin and end their transactions themselves. */
import { drizzle as overNodePostgres } from "drizzle-orm/node-postgres"
import { drizzle as overPostgresJs } from "drizzle-orm/postgres-js"
import { Effect, Exit, Redacted, type Scope } from "effect"
import pg from "pg"
import postgres from "postgres"

/** A statement of the host's own in its transaction. */
export type Own = (text: string) => Promise<ReadonlyArray<Record<string, unknown>>>

export interface Host {
  /** Commits when `work` resolves and rolls back when it rejects. */
  readonly transaction: <A>(work: (tx: object, own: Own) => Promise<A>, isolation?: string) => Promise<A>
  /** The handle of all connections, of which none is in a transaction. */
  readonly outside: object
}

interface Kind {
  readonly name: string
  /**
   * postgres.js throws outside of any promise when a statement is sent on a connection that was lost
   * (docs/adr/0001-postgres-driver.md), so nothing is sent after that here.
   */
  readonly survivesLoss: boolean
  readonly open: (url: string) => { readonly host: Host; readonly close: () => Promise<void> }
}

const connections = 10

const settings = (url: string) => {
  const { hostname, pathname, port, searchParams, username } = new URL(url)
  return {
    host: searchParams.get("host") ?? hostname,
    port: Number(port || 5432),
    database: pathname.slice(1),
    user: searchParams.get("user") ?? username
  }
}

const poolOf = (url: string) => {
  const pool = new pg.Pool({ ...settings(url), max: connections, application_name: "host" })
  // A lost connection also fails the statements that need it.
  pool.on("error", () => {})
  pool.on("connect", (client) => client.on("error", () => {}))
  return pool
}

const sqlOf = (url: string) =>
  postgres({
    ...settings(url),
    max: connections,
    connection: { application_name: "host" },
    onnotice: () => {},
    // The transform renames columns of the host's own statements. Columns of the control plane must keep their names.
    transform: postgres.camel,
    // A host may have its own representations of int8 and jsonb.
    types: {
      bigint: postgres.BigInt,
      json: { to: 3802, from: [114, 3802], serialize: () => '"the host\'s"', parse: () => "the host's" }
    }
  })

const beginning = (isolation: string | undefined) => (isolation === undefined ? "" : `isolation level ${isolation}`)

const nodePostgres: Kind = {
  name: "node-postgres",
  survivesLoss: true,
  open: (url) => {
    const pool = poolOf(url)
    const host: Host = {
      outside: pool,
      transaction: async (work, isolation) => {
        const client = await pool.connect()
        let broken = false
        try {
          await client.query(`begin ${beginning(isolation)}`)
          const result = await work(client, async (text) => (await client.query(text)).rows)
          await client.query("commit")
          return result
        } catch (error) {
          await client.query("rollback").catch(() => {
            broken = true
          })
          throw error
        } finally {
          client.release(broken)
        }
      }
    }
    return { host, close: () => pool.end() }
  }
}

const postgresJs: Kind = {
  name: "postgres.js",
  survivesLoss: false,
  open: (url) => {
    const sql = sqlOf(url)
    const host: Host = {
      outside: sql,
      // The answer of `begin` is that of the callback, unless it is an array of statements.
      transaction: (work, isolation) =>
        sql.begin(beginning(isolation), (tx) => work(tx, async (text) => await tx.unsafe(text))) as never
    }
    return { host, close: () => sql.end({ timeout: 1 }) }
  }
}

const reserved: Kind = {
  name: "a reserved connection of postgres.js",
  survivesLoss: false,
  open: (url) => {
    const sql = sqlOf(url)
    const host: Host = {
      outside: sql,
      transaction: async (work, isolation) => {
        const connection = await sql.reserve()
        try {
          await connection.unsafe(`begin ${beginning(isolation)}`)
          const result = await work(connection, async (text) => await connection.unsafe(text))
          await connection.unsafe("commit")
          return result
        } catch (error) {
          await connection.unsafe("rollback").catch(() => {})
          throw error
        } finally {
          connection.release()
        }
      }
    }
    return { host, close: () => sql.end({ timeout: 1 }) }
  }
}

const levels = {
  "read committed": "read committed",
  "repeatable read": "repeatable read",
  serializable: "serializable"
}
const level = (isolation: string | undefined) =>
  isolation === undefined ? undefined : { isolationLevel: levels[isolation as keyof typeof levels] as "serializable" }

const drizzleNodePostgres: Kind = {
  name: "Drizzle over node-postgres",
  survivesLoss: true,
  open: (url) => {
    const pool = poolOf(url)
    const db = overNodePostgres(pool)
    const host: Host = {
      outside: db,
      transaction: (work, isolation) =>
        db.transaction((tx) => work(tx, async (text) => (await tx.execute(text)).rows), level(isolation))
    }
    return { host, close: () => pool.end() }
  }
}

const drizzlePostgresJs: Kind = {
  name: "Drizzle over postgres.js",
  survivesLoss: false,
  open: (url) => {
    const sql = sqlOf(url)
    const db = overPostgresJs(sql)
    const host: Host = {
      outside: db,
      transaction: (work, isolation) =>
        db.transaction((tx) => work(tx, async (text) => [...(await tx.execute(text))]), level(isolation))
    }
    return { host, close: () => sql.end({ timeout: 1 }) }
  }
}

export const hosts = { nodePostgres, postgresJs, reserved, drizzleNodePostgres, drizzlePostgresJs }

/** A host on this database, until the scope ends. */
export const open = ({ open }: Kind, url: Redacted.Redacted<string>): Effect.Effect<Host, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => open(Redacted.value(url))),
      ({ close }) => Effect.promise(close)
    ),
    ({ host }) => host
  )

class RolledBack extends Error {}

/** Runs `work` in a transaction of the host: a failure rolls it back and is the answer. A failed COMMIT is a defect. */
export const inTransaction = <A, E, R>(
  host: Host,
  work: (
    tx: object,
    own: (text: string) => Effect.Effect<ReadonlyArray<Record<string, unknown>>>
  ) => Effect.Effect<A, E, R>,
  isolation?: string
): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    Effect.flatten(
      Effect.callback<Exit.Exit<A, E>>((resume, signal) => {
        let exit: Exit.Exit<A, E> | undefined
        const whole = host
          .transaction(async (tx, own) => {
            const run = work(tx, (text) => Effect.promise(() => own(text)))
            exit = await Effect.runPromiseExitWith(context)(run, { signal })
            if (Exit.isFailure(exit)) throw new RolledBack()
          }, isolation)
          .then(
            () => resume(Effect.succeed(exit as Exit.Exit<A, E>)), // the work has ended
            (error) => resume(error instanceof RolledBack ? Effect.succeed(exit as Exit.Exit<A, E>) : Effect.die(error))
          )
        return Effect.promise(() => whole)
      })
    )
  )

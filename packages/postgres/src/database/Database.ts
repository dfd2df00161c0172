/**
 * Our one door to Postgres: statements, transactions, notifications. The stores above it know SQL, not the driver;
 * why the driver is `@effect/sql-pg` is in docs/adr/0001-postgres-driver.md.
 *
 * It stops at rows: no mapping to models, no query building, no retry of single statements.
 *
 * Values. Parameters: strings are sent untyped, so Postgres reads them as whatever the statement expects (uuid,
 * timestamptz as ISO text, bigint, jsonb as JSON text); numbers, booleans, `Date`, bytes and flat arrays of these
 * have their own type; JSON values go in as `jsonb(value)`. Results: timestamptz is a `Date` (milliseconds), int8
 * a number (a value beyond 2^53 fails the statement), json and jsonb are parsed, numeric stays a string. Types that
 * the driver does not know (xid8, pg_lsn, …) must be cast to text in SQL.
 *
 * Pitfall: repeating a failed COMMIT. It says nothing about the outcome, because the connection may have died after the
 * server had committed.
 * Pitfall: catching a failed statement to save the work. The failure has aborted the transaction around it.
 */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { StorageError } from "@narthex/core"
import { Context, Effect, Layer, Redacted, type Scope, Stream } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { listening, type Notice } from "../driver/listening.ts"
import { transacting } from "../driver/transacting.ts"
import { types } from "../driver/values.ts"

export interface DatabaseOptions {
  /** `postgresql://…`; a Unix socket is `postgresql:///name?host=/directory&user=…`. */
  readonly url: Redacted.Redacted<string>
  /** Connections for statements and transactions; each `listen` has one of its own besides. */
  readonly maxConnections: number
  /**
   * A direct way to the server for LISTEN, when `url` leads through a pooler; `off`: there are no notifications. Either
   * says that transactions may change sessions, so no statement is kept prepared.
   */
  readonly listenUrl?: Redacted.Redacted<string> | "off" | undefined
  readonly applicationName: string
}

export class Database extends Context.Service<
  Database,
  {
    /**
     * The rows of one statement with positional parameters `$1…`. Inside `transaction` it runs on that connection,
     * outside in a transaction of its own. Interruption cancels it on the server. `Row` is the caller's word for
     * what the statement returns: keep the two side by side.
     */
    readonly query: <Row extends object>(
      operation: string,
      text: string,
      params?: ReadonlyArray<unknown>
    ) => Effect.Effect<ReadonlyArray<Row>, StorageError>

    /**
     * Runs `work` in one READ COMMITTED transaction: all of it is committed, or, when it fails or is interrupted,
     * nothing. Inside another transaction it joins that one; a failure inside dooms the whole, even when caught.
     *
     * When the server ended the transaction because of a deadlock or a serialization failure, the outermost call
     * runs `work` again from the start, five times at most. That is safe by construction as long as `work` changes
     * nothing but this database and what it made itself: the server has undone every change of the former run, and
     * whatever `work` collects (events, say) must therefore be created inside it. A lost connection is not retried.
     */
    readonly transaction: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>

    /**
     * What is notified on a channel, and whether we are subscribed to it: once before the first notification and again
     * after every loss, which is told as soon as it shows. Never ends.
     */
    readonly listen: (channel: string) => Stream.Stream<Notice>
  }
>()("@narthex/postgres/Database") {
  /** Connections are opened when needed: a server that is down fails statements, not the layer. */
  static readonly layer = (options: DatabaseOptions): Layer.Layer<Database, StorageError> =>
    Layer.effect(Database, make(options))
}

/** The constraint that a failed statement (or COMMIT) would have violated by a duplicate; `undefined`: other reasons. */
export const uniqueViolation = (error: StorageError): string | undefined =>
  isSqlError(error.cause) && error.cause.reason._tag === "UniqueViolation" ? error.cause.reason.constraint : undefined

const failing = (operation: string) => (cause: unknown) => new StorageError({ operation, cause })

/** The driver's own complaint about a malformed URL would carry the password into a log. */
const parsable = (url: Redacted.Redacted<string>) =>
  URL.canParse(Redacted.value(url))
    ? Effect.succeed(url)
    : Effect.fail(failing("Database.layer")(new Error("The database URL is malformed.")))

const make = (options: DatabaseOptions): Effect.Effect<Database["Service"], StorageError, Scope.Scope> =>
  Effect.gen(function* () {
    const session = {
      url: yield* parsable(options.url),
      applicationName: options.applicationName,
      keepAlive: "30 seconds",
      types
    } as const
    const { listenUrl = session.url } = options
    // A pooler gives each transaction another session, which does not have what an earlier one prepared.
    const prepare = listenUrl !== "off" && Redacted.value(listenUrl) === Redacted.value(session.url)
    const pool = yield* Effect.mapError(
      PgPool.make({ ...session, maxConnections: options.maxConnections, prepare }),
      failing("Database.layer")
    )
    const { statement, transaction } = transacting(pool)
    const listener =
      listenUrl === "off" ? undefined : PgConnection.make({ ...session, url: yield* parsable(listenUrl) })

    return Database.of({
      query: <Row extends object>(operation: string, text: string, params: ReadonlyArray<unknown> = []) =>
        statement(text, params).pipe(
          // The row's shape is the statement's, which only the caller can read.
          Effect.map((result) => result.rows as ReadonlyArray<object> as ReadonlyArray<Row>),
          Effect.mapError(failing(operation)),
          Effect.withSpan("Database.query", { kind: "client", attributes: { operation, "db.query.text": text } })
        ),
      transaction: (work) =>
        transaction(work, failing("Database.transaction")).pipe(Effect.withSpan("Database.transaction")),
      listen: (channel) => (listener === undefined ? Stream.never : listening(listener, channel))
    })
  })

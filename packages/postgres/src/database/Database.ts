/**
 * Statements, transactions and notifications of Postgres. This service alone uses the driver; stores know SQL only. Why
 * the driver is `@effect/sql-pg`: docs/adr/0001-postgres-driver.md.
 *
 * `Database` stops at rows: it maps nothing to models, builds no queries, and repeats a single statement only where its
 * server refused it as read-only.
 *
 * Tables: a statement names them in the schema `narthex`, as `narthex.project`. The name of the schema is put there
 * (`ownSchema.ts`), so that no search path has a part in it.
 *
 * Parameters: strings are sent untyped, so Postgres reads them as the type that the statement expects (uuid,
 * timestamptz as ISO text, bigint, jsonb as JSON text). Numbers, booleans, `Date`, bytes and flat arrays of these
 * have their own type. JSON values are passed as `jsonb(value)`.
 *
 * Results: timestamptz is a `Date` (milliseconds), int8 a number (a value beyond 2^53 fails the statement), json and
 * jsonb are parsed, numeric stays a string. Types that the driver does not know (xid8, pg_lsn, …) must be cast to text
 * in SQL.
 *
 * Pitfall: repeating a failed COMMIT. Its failure does not tell the outcome: the connection may have died after the
 * server had committed.
 * Pitfall: catching a failed statement to save the work. The failure has aborted the transaction around it.
 */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import { makeRecorder, StorageError, type TransactionRefused } from "@narthex/core"
import {
  Context,
  Effect,
  Layer,
  Metric,
  Predicate,
  Redacted,
  References,
  Result,
  type Scope,
  Stream,
  type Tracer
} from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { attemptOn, HostStatementFailed } from "../driver/Attempt.ts"
import type { ConnectionUse } from "../driver/countingUse.ts"
import { listening, type Notice } from "../driver/listening.ts"
import { type Pipeline, pipelining } from "../driver/pipelining.ts"
import { transacting } from "../driver/transacting.ts"
import { types } from "../driver/values.ts"
import { joining } from "../host/joining.ts"
import { readConnectionUrl } from "./connectionUrl.ts"
import { defaultSchema, formOfSchema, inSchema, isSchemaName } from "./ownSchema.ts"
import { defaultSessionLimits, parametersOf, type SessionLimits, settingLocally } from "./SessionLimits.ts"

export interface DatabaseOptions {
  /** `postgresql://…` with one host; a Unix socket is `postgresql:///name?host=/directory&user=…`, as libpq reads it. */
  readonly url: Redacted.Redacted<string>
  /** The most connections for statements and transactions. Each of four pipelines and each `listen` opens one more. */
  readonly maxConnections: number
  /**
   * The direct URL for LISTEN when `url` leads through a pooler, or `off` for no notifications. Default: `url`. With
   * either, no statement stays prepared, because a pooler may give each transaction another session.
   */
  readonly listenUrl?: Redacted.Redacted<string> | "off" | undefined
  readonly applicationName: string
  /** The schema that has the tables. Default: `narthex`. */
  readonly schema?: string | undefined
  /** Limits after which the server ends statements and transactions. Default: `defaultSessionLimits`. */
  readonly limits?: SessionLimits | undefined
}

export class Database extends Context.Service<
  Database,
  {
    /**
     * The rows of one statement with positional parameters `$1…`. Inside `transaction` it runs on that connection,
     * outside in a transaction of its own. Interruption cancels it on the server, and so does the limit of 30 seconds.
     * A lock that is not granted within 15 seconds fails it (`SessionLimits`). A session whose server became read-only leaves
     * the pool, and the statement runs again on another one, five times in all.
     * `operation` names the caller in spans and errors. `Row` is the caller's claim about the statement and is not
     * checked: keep the two next to each other.
     *
     * `pipeline` is for reads of a few rows by index that run on many requests: outside of transactions those of one share a
     * connection, and interruption does not cancel them.
     */
    readonly query: <Row extends object>(
      operation: string,
      text: string,
      params?: ReadonlyArray<unknown>,
      pipeline?: Pipeline
    ) => Effect.Effect<ReadonlyArray<Row>, StorageError>

    /**
     * Runs `work` in one READ COMMITTED transaction: all of it is committed, or, when it fails or is interrupted,
     * nothing. Inside another transaction it joins that one. A failed statement inside fails the whole, even when
     * caught.
     *
     * When the server ends the transaction because of a deadlock or a serialization failure, or changes nothing because it is
     * read-only since a fail-over, the outermost call runs `work` again from the start, five times in all. Repeating is safe as long as `work` changes nothing but this
     * database: the server has undone every change of the previous run, and what `work` collects (events, for example)
     * must be created inside it. A lost connection is not retried.
     */
    readonly transaction: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>

    /**
     * Runs `work` inside a transaction that a host has begun on this database and ends itself. `handle` is a client of
     * node-postgres, the handle of a transaction or a reserved connection of postgres.js, or a transaction of Drizzle
     * over either. When `work` fails or is interrupted, what it changed is undone up to a savepoint and the host's
     * transaction goes on. Nothing is committed and nothing is run again.
     */
    readonly join: <A, E, R>(
      handle: object,
      work: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | StorageError | TransactionRefused, R>

    /** Whether this runs inside `join`: the commit comes later, and is another's. */
    readonly joined: Effect.Effect<boolean>

    /**
     * The schema that has the tables, unquoted. It is also the channel of their notifications.
     */
    readonly schema: string

    /**
     * The notifications of a channel, and the state of the subscription to it: `Subscribed` before the first
     * notification and after each `Lost`, which is emitted as soon as the loss is detected. Never ends, never fails.
     */
    readonly listen: (channel: string) => Stream.Stream<Notice>

    /** The connections for statements and transactions at this moment, without those of pipelines and `listen`. */
    readonly connections: Effect.Effect<ConnectionUse>
  }
>()("@narthex/postgres/Database") {
  /**
   * Connections are opened on demand: a server that is down fails statements, not the layer. A malformed URL fails it.
   */
  static readonly layer = (options: DatabaseOptions): Layer.Layer<Database, StorageError> =>
    Layer.effect(Database, make(options))
}

/**
 * The name of the constraint when a statement (or COMMIT) failed because of a duplicate; `undefined` for other causes.
 */
export const uniqueViolation = ({ cause }: StorageError): string | undefined => {
  if (isSqlError(cause)) return cause.reason._tag === "UniqueViolation" ? cause.reason.constraint : undefined
  return cause instanceof HostStatementFailed ? violated(cause.cause) : undefined
}

/** The constraint in the error of a host's driver: node-postgres and postgres.js have other names for it. */
const violated = (error: unknown): string | undefined => {
  if (!(Predicate.hasProperty(error, "code") && error.code === "23505")) return undefined
  const named = [
    Predicate.hasProperty(error, "constraint") ? error.constraint : undefined,
    Predicate.hasProperty(error, "constraint_name") ? error.constraint_name : undefined
  ]
  return named.find(Predicate.isString)
}

const failing = (operation: string) => (cause: unknown) => new StorageError({ operation, cause })

/** A span where tracing is on. Elsewhere Effect would still note the stack of its caller, for each statement. */
const spanned =
  (name: string, options?: Tracer.SpanOptionsNoTrace) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) =>
      fiber.getRef(References.TracerEnabled)
        ? Effect.withSpan(work, name, { ...options, captureStackTrace: false })
        : work
    )

/** Checked here because the driver's error for a malformed URL contains the password, and errors are logged. */
const readable = (url: Redacted.Redacted<string>) =>
  Effect.fromResult(
    Result.mapBoth(readConnectionUrl(Redacted.value(url)), {
      onSuccess: (text) => Redacted.make(text),
      onFailure: (reason) => failing("Database.layer")(new Error(reason))
    })
  )

const named = (schema: string) =>
  isSchemaName(schema)
    ? Effect.succeed(schema)
    : Effect.fail(failing("Database.layer")(new Error(`The schema must be ${formOfSchema}.`)))

const waitSeconds = Metric.histogram("narthex_store_wait_seconds", {
  description: "Time that a statement or a transaction has waited for a connection.",
  boundaries: Metric.exponentialBoundaries({ start: 0.000_5, factor: 2, count: 16 })
})

const make = (options: DatabaseOptions): Effect.Effect<Database["Service"], StorageError, Scope.Scope> =>
  Effect.gen(function* () {
    const record = makeRecorder(yield* Effect.context<never>())
    const schema = yield* named(options.schema ?? defaultSchema)
    const own = inSchema(schema)
    const session = {
      url: yield* readable(options.url),
      applicationName: options.applicationName,
      keepAlive: "30 seconds",
      types
    } as const
    const { limits = defaultSessionLimits } = options
    const listenUrl = options.listenUrl === "off" ? "off" : yield* readable(options.listenUrl ?? session.url)
    const parameters = parametersOf(limits)
    // A pooler may give each transaction another session, which lacks the statements that an earlier one prepared.
    const prepare = listenUrl !== "off" && Redacted.value(listenUrl) === Redacted.value(session.url)
    const connected = { ...session, prepare, ...(prepare ? { startupParameters: parameters } : {}) }
    const pool = yield* Effect.mapError(
      PgPool.make({ ...connected, maxConnections: options.maxConnections }),
      failing("Database.layer")
    )
    // Where nothing stays prepared, each statement is parsed again, and a pooler may end one without the limits of a session.
    const shared = prepare ? yield* Effect.mapError(pipelining(connected), failing("Database.layer")) : undefined
    const { statement, transaction, use } = transacting(
      pool,
      options.maxConnections,
      (seconds) => record(waitSeconds, seconds),
      prepare ? undefined : settingLocally(parameters)
    )
    const listener = listenUrl === "off" ? undefined : PgConnection.make({ ...session, url: listenUrl })

    const join = joining(pool, statement, parameters, schema)

    return Database.of({
      query: <Row extends object>(
        operation: string,
        given: string,
        params: ReadonlyArray<unknown> = [],
        pipeline?: Pipeline
      ) => {
        const text = own(given)
        return statement(text, params, pipeline === undefined ? undefined : shared?.get(pipeline)).pipe(
          // The shape of a row is that of the statement, which only the caller knows.
          Effect.map((result) => result.rows as ReadonlyArray<object> as ReadonlyArray<Row>),
          Effect.mapError(failing(operation)),
          spanned("Database.query", { kind: "client", attributes: { operation, "db.query.text": text } })
        )
      },
      transaction: (work) => spanned("Database.transaction")(transaction(work, failing("Database.transaction"))),
      join: (handle, work) => join(handle, work).pipe(Effect.withSpan("Database.join")),
      joined: Effect.map(attemptOn(pool), (attempt) => attempt?.host !== undefined),
      schema,
      listen: (channel) => (listener === undefined ? Stream.never : listening(listener, channel)),
      connections: use
    })
  })

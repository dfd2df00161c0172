/**
 * One connection to a SQLite database, its statements and its transactions. The stores know SQL only.
 *
 * SQLite runs one write transaction at a time, so one connection with a queue loses nothing, and every lock that a port
 * asks for is held by the transaction itself.
 */
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite"
import { StorageError } from "@narthex/core"
import { Context, Effect, Exit, Layer, Semaphore } from "effect"
import { schema } from "./schema.ts"

export type Value = SQLInputValue
export type Columns = Readonly<Record<string, SQLOutputValue>>

/** The transaction that the running fiber is in. It is closed when it ends: what the work forked may outlive it. */
interface Running {
  open: boolean
}
const Current = Context.Reference<Running | undefined>("example/Sqlite/Current", { defaultValue: () => undefined })

export class Sqlite extends Context.Service<
  Sqlite,
  {
    /** The rows of one statement with parameters `?1…`. Outside of a transaction it commits alone. */
    readonly query: (
      sql: string,
      ...values: ReadonlyArray<Value>
    ) => Effect.Effect<ReadonlyArray<Columns>, StorageError>
    /** Runs one statement, and returns how many rows it changed. */
    readonly run: (sql: string, ...values: ReadonlyArray<Value>) => Effect.Effect<number, StorageError>
    /** Runs `work` as one commit, and inside another transaction as a part of that one. */
    readonly transaction: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
  }
>()("example/Sqlite") {
  /** Opens the file, or a new database in memory for `:memory:`, and creates the tables that are missing. */
  static readonly layer = (path: string): Layer.Layer<Sqlite, StorageError> => Layer.effect(Sqlite, open(path))
}

const attempt = <A>(operation: string, work: () => A) =>
  Effect.try({ try: work, catch: (cause) => new StorageError({ operation, cause }) })

const open = Effect.fnUntraced(function* (path: string) {
  const database = yield* Effect.acquireRelease(
    attempt("open", () => new DatabaseSync(path)),
    (it) => Effect.sync(() => it.close())
  )
  yield* attempt("open", () => database.exec(`pragma journal_mode = wal; pragma synchronous = full; ${schema}`))

  const prepared = new Map<string, StatementSync>()
  const statement = (sql: string) => {
    const found = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, found)
    return found
  }

  // Pitfall: a statement without the queue. It would run inside the transaction of another fiber.
  const queue = Semaphore.makeUnsafe(1)
  const inTurn = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Current, (running) => (running?.open ? work : queue.withPermits(1)(work)))

  const commit = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageError, R> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const running: Running = { open: true }
        yield* attempt("begin", () => database.exec("begin immediate"))
        const exit = yield* Effect.exit(restore(Effect.provideService(work, Current, running)))
        running.open = false
        const end = attempt("commit", () => database.exec(Exit.isSuccess(exit) ? "commit" : "rollback"))
        // A commit that fails leaves the transaction open.
        yield* Effect.tapError(end, () => Effect.ignore(attempt("rollback", () => database.exec("rollback"))))
        return yield* exit
      })
    )

  return Sqlite.of({
    query: (sql, ...values) => inTurn(attempt(sql, () => statement(sql).all(...values))),
    run: (sql, ...values) => inTurn(attempt(sql, () => Number(statement(sql).run(...values).changes))),
    transaction: (work) =>
      Effect.flatMap(Current, (running) => (running?.open ? work : queue.withPermits(1)(commit(work))))
  })
})

/** The next number of a counter. Call it in a transaction. */
export const nextOf = (query: Sqlite["Service"]["query"], counter: string) =>
  Effect.map(
    query(
      "insert into counter values (?1, 1) on conflict (name) do update set value = value + 1 returning value",
      counter
    ),
    ([row]) => Number(row?.["value"])
  )

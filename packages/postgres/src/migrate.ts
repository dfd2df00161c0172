/**
 * Brings the schema up to date: runs each migration once, in order, in one transaction with its record.
 *
 * A start on a schema that is up to date takes two statements, however many migrations there are. Several instances may
 * migrate at once: the transaction takes an advisory lock, so one instance runs a migration and the others find it
 * recorded. Nothing is kept between transactions, so this works behind a pooler too. A record of an
 * unknown migration is accepted: a newer version of the program may be running, and schemas only grow.
 *
 * Pitfall: editing a released migration. Its text is compared with the text that was run, and a difference stops the
 * start.
 */
import { StorageError } from "@narthex/core"
import { Duration, Effect } from "effect"
import { Database } from "./database/Database.ts"
import { unlimited } from "./database/SessionLimits.ts"
import { StatementLimit } from "./driver/Attempt.ts"
import { migrations } from "./migrationList.ts"

/** The advisory lock of migrations: the same number in every version of this program. */
const lock = 7_316_904_412

const record = `create table if not exists narthex_migration (
  name     text primary key,
  checksum text not null,
  at       timestamptz not null default now()
)`

/** Wraps many commands into one: the extended protocol takes one command per statement. */
const asOne = (text: string) =>
  `do $narthex_block$ begin execute $narthex_text$${text}$narthex_text$; end $narthex_block$`

/** Whether it ran: `false` if it is recorded. */
const once = (name: string, text: string): Effect.Effect<boolean, StorageError, Database> =>
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    const ask = <Row extends object>(statement: string, params: ReadonlyArray<unknown> = []) =>
      query<Row>(`migrate ${name}`, statement, params)
    const step = Effect.gen(function* () {
      yield* ask(unlimited)
      yield* ask("select pg_advisory_xact_lock($1)", [lock])
      yield* ask(record)
      const [found] = yield* ask<{ readonly same: boolean }>(
        "select checksum = md5($2) as same from narthex_migration where name = $1",
        [name, text]
      )
      if (found?.same === false) {
        return yield* new StorageError({
          operation: `migrate ${name}`,
          cause: new Error("This migration ran on the database with a different text.")
        })
      }
      if (found !== undefined) return false
      yield* ask(asOne(text))
      yield* ask("insert into narthex_migration (name, checksum) values ($1, md5($2))", [name, text])
      yield* Effect.logInfo(`Migrated the database: ${name}.`)
      return true
    })
    return yield* transaction(step)
  })

/**
 * The names of the migrations that ran with their present text. It takes no lock: a record is made with the change that
 * it records, and is never removed. The first migration creates the table of the records.
 */
const recorded = Effect.gen(function* () {
  const { query } = yield* Database
  const [table] = yield* query<{ readonly exists: boolean }>(
    "migrate",
    "select to_regclass('narthex_migration') is not null as exists"
  )
  if (table?.exists !== true) return new Set<string>()
  const rows = yield* query<{ readonly name: string }>(
    "migrate",
    `select m.name from unnest($1::text[], $2::text[]) as it(name, text)
     join narthex_migration m on m.name = it.name and m.checksum = md5(it.text)`,
    [migrations.map(([name]) => name), migrations.map(([, text]) => text)]
  )
  return new Set(rows.map(({ name }) => name))
})

/**
 * Safe to run at every start. Waits while another instance migrates, however long that takes. Returns the names of the
 * migrations that it ran, in their order; each is also a line of the log.
 *
 * @example
 * import { Database, migrate } from "@narthex/postgres"
 * import { Effect, Redacted } from "effect"
 * const url = Redacted.make("postgresql://localhost/narthex")
 * const database = Database.layer({ url, maxConnections: 10, applicationName: "narthex" })
 * await Effect.runPromise(Effect.provide(migrate, database))
 */
export const migrate: Effect.Effect<ReadonlyArray<string>, StorageError, Database> = Effect.gen(function* () {
  const done = yield* recorded
  const left = migrations.filter(([name]) => !done.has(name))
  const ran = yield* Effect.filter(left, ([name, text]) => once(name, text))
  return ran.map(([name]) => name)
}).pipe(Effect.provideService(StatementLimit, Duration.infinity))

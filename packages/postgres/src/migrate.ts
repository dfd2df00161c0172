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
import { accounts } from "./migrations/0001_accounts.ts"
import { regions } from "./migrations/0002_regions.ts"
import { keys } from "./migrations/0003_keys.ts"
import { projects } from "./migrations/0004_projects.ts"
import { computes } from "./migrations/0005_computes.ts"
import { sessions } from "./migrations/0006_sessions.ts"
import { requests } from "./migrations/0007_requests.ts"
import { events } from "./migrations/0008_events.ts"
import { operations } from "./migrations/0009_operations.ts"
import { quotas } from "./migrations/0010_quotas.ts"
import { allowlist } from "./migrations/0011_allowlist.ts"
import { cliLogin } from "./migrations/0012_cli_login.ts"
import { places } from "./migrations/0013_places.ts"
import { turns } from "./migrations/before/turns.ts"

/** The migrations in the order of execution. A name never changes: databases record migrations by it. */
export const migrations: ReadonlyArray<readonly [name: string, text: string]> = [
  ["0001_accounts", accounts],
  ["0002_regions", regions],
  ["0003_keys", keys],
  ["0004_projects", projects],
  ["0005_computes", computes],
  ["0006_sessions", sessions],
  ["0007_requests", requests],
  ["0008_events", events],
  ["0009_operations", operations],
  ["0010_quotas", quotas],
  ["0011_allowlist", allowlist],
  ["0012_cli_login", cliLogin],
  ["0013_places", places]
]

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

type Ask = <Row extends object>(
  statement: string,
  params?: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<Row>, StorageError>

/** Runs `work` in a transaction that waits for those of other instances, and has the table of the records. */
const alone = <A>(operation: string, work: (ask: Ask) => Effect.Effect<A, StorageError>) =>
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    const ask: Ask = (statement, params = []) => query(operation, statement, params)
    const step = Effect.gen(function* () {
      yield* ask(unlimited)
      yield* ask("select pg_advisory_xact_lock($1)", [lock])
      yield* ask(record)
      return yield* work(ask)
    })
    return yield* transaction(step)
  })

const refused = (operation: string, why: string) => new StorageError({ operation, cause: new Error(why) })

/** Whether it ran: `false` if it is recorded. */
const once = (name: string, text: string) =>
  alone(
    `migrate ${name}`,
    Effect.fnUntraced(function* (ask) {
      const [found] = yield* ask<{ readonly same: boolean }>(
        "select checksum = md5($2) as same from narthex_migration where name = $1",
        [name, text]
      )
      if (found?.same === false)
        return yield* refused(`migrate ${name}`, "This migration ran on the database with a different text.")
      if (found !== undefined) return false
      yield* ask(asOne(text))
      yield* ask("insert into narthex_migration (name, checksum) values ($1, md5($2))", [name, text])
      yield* Effect.logInfo(`Migrated the database: ${name}.`)
      return true
    })
  )

/** The migrations of the first release: one for each group of tables. */
const ofFirstRelease = migrations.slice(0, 12)
/** A digest of the records of the 26 migrations from before the first release. */
const recordsBefore = "5249b29d6b58d0339955d0bbd49ab6fa"

/**
 * Brings a database from before the first release to the schema of that release, and records its migrations. The former
 * records stay.
 */
const recognized = alone(
  "migrate",
  Effect.fnUntraced(function* (ask) {
    const [older] = yield* ask<{ readonly complete: boolean }>(
      `select md5(string_agg(name || ' ' || checksum, ',' order by name collate "C")) = $1 as complete
       from narthex_migration having bool_or(name = '0001_events') and not bool_or(name = '0001_accounts')`,
      [recordsBefore]
    )
    if (older?.complete === false)
      return yield* refused(
        "migrate",
        "The database has not all migrations from before the first release. Start the last version before the first release once, then this one."
      )
    if (older === undefined) return
    yield* ask(asOne(turns))
    yield* ask(
      "insert into narthex_migration (name, checksum) select name, md5(text) from unnest($1::text[], $2::text[]) as it(name, text)",
      [ofFirstRelease.map(([name]) => name), ofFirstRelease.map(([, text]) => text)]
    )
  })
)

/**
 * The names of the migrations that ran with their present text. It takes no lock: a record is made with the change that
 * it records, and is never removed. The first transaction that migrates creates the table of the records.
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
  if (left.length > 0) yield* recognized
  const ran = yield* Effect.filter(left, ([name, text]) => once(name, text))
  return ran.map(([name]) => name)
}).pipe(Effect.provideService(StatementLimit, Duration.infinity))

/**
 * Brings the schema up to date: makes it if there is none, and runs each migration once, in order. All that are left run
 * in one transaction with their records, so a failure leaves nothing behind.
 *
 * A start on a schema that is up to date takes two statements, however many migrations there are. Several instances may
 * migrate at once: the transaction takes an advisory lock, so one instance runs the migrations and the others find them
 * recorded. Nothing is kept between transactions, so this works behind a pooler too. A record of an
 * unknown migration is accepted: a newer version of the program may be running, and schemas only grow.
 *
 * Migrations name no schema: they run where the search path leads to this one alone. Functions keep that search path.
 *
 * Pitfall: editing a released migration. Its text is compared with the text that was run, and a difference stops the
 * start.
 */
import { StorageError } from "@narthex/core"
import { Duration, Effect } from "effect"
import { adopt, type Migrating } from "./adopt.ts"
import { Database } from "./database/Database.ts"
import { quoted } from "./database/ownSchema.ts"
import { unlimited } from "./database/SessionLimits.ts"
import { type ServerFacts, serverFacts, unfitness } from "./database/serverFacts.ts"
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
import { audit } from "./migrations/0014_audit.ts"
import { sizes } from "./migrations/0015_sizes.ts"
import { webhooks } from "./migrations/0016_webhooks.ts"

type Migration = readonly [name: string, text: string]

/** The migrations in the order of execution. A name never changes: databases record migrations by it. */
export const migrations: ReadonlyArray<Migration> = [
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
  ["0013_places", places],
  ["0014_audit", audit],
  ["0015_sizes", sizes],
  ["0016_webhooks", webhooks]
]

const records = `create table if not exists narthex.narthex_migration (
  name     text primary key,
  checksum text not null,
  at       timestamptz not null default now()
)`

const refused = (operation: string) => (why: string) => new StorageError({ operation, cause: new Error(why) })

/** The part of the transaction that `operation` names in errors. */
const migrating = ({ query, schema }: Database["Service"], operation: string): Migrating => {
  const ask: Migrating["ask"] = (text, params = []) => query(operation, text, params)
  return {
    ask,
    // Temporary tables come last, so that none hides a table of the schema.
    enter: (at) => ask("select set_config('search_path', $1, true)", [`${quoted(at)}, pg_temp`]),
    // The extended protocol takes one command per statement.
    run: (text) =>
      Effect.andThen(
        ask("select set_config('narthex_migration.text', $1, true)", [text]),
        ask("do $$ begin execute current_setting('narthex_migration.text'); end $$")
      ),
    refused: refused(operation),
    schema
  }
}

/** Whether it ran: `false` if it is recorded. */
const once = Effect.fnUntraced(function* ({ ask, refused, run }: Migrating, [name, text]: Migration) {
  const [found] = yield* ask<{ readonly same: boolean }>(
    "select checksum = md5($2) as same from narthex.narthex_migration where name = $1",
    [name, text]
  )
  if (found?.same === false) return yield* refused("This migration ran on the database with a different text.")
  if (found !== undefined) return false
  yield* run(text)
  yield* ask("insert into narthex.narthex_migration (name, checksum) values ($1, md5($2))", [name, text])
  return true
})

/** The migrations of the first release: one for each group of tables. */
const ofFirstRelease = migrations.slice(0, 12)

/** Runs what is not recorded, in one transaction. It waits for those of other instances with the same schema. */
const together = (database: Database["Service"], left: ReadonlyArray<Migration>) =>
  Effect.gen(function* () {
    const whole = migrating(database, "migrate")
    const { ask, enter, run, schema } = whole
    yield* ask(unlimited)
    yield* ask("select pg_advisory_xact_lock(hashtextextended('narthex migrates ' || $1, 0))::text", [schema])
    // Asked first: `create schema if not exists` needs the right to create one where it exists, too.
    const [found] = yield* ask("select 1 from pg_namespace where nspname = $1", [schema])
    if (found === undefined) yield* run(`create schema ${quoted(schema)}`)
    yield* adopt(whole, ofFirstRelease)
    yield* ask(records)
    yield* enter(schema)
    return yield* Effect.filter(left, (one) => once(migrating(database, `migrate ${one[0]}`), one))
  }).pipe(database.transaction)

/**
 * The names of the migrations that ran with their present text. It takes no lock: a record is made with the change that
 * it records, and is never removed. The first transaction that migrates creates the table of the records.
 */
const recorded = Effect.gen(function* () {
  const { query } = yield* Database
  const [table] = yield* query<ServerFacts & { readonly exists: boolean }>(
    "migrate",
    `select to_regclass('narthex.narthex_migration') is not null as exists, ${serverFacts}`
  )
  const unfit = table === undefined ? undefined : unfitness(table)
  if (unfit !== undefined) return yield* new StorageError({ operation: "migrate", cause: unfit })
  if (table?.exists !== true) return new Set<string>()
  const rows = yield* query<{ readonly name: string }>(
    "migrate",
    `select m.name from unnest($1::text[], $2::text[]) as it(name, text)
     join narthex.narthex_migration m on m.name = it.name and m.checksum = md5(it.text)`,
    [migrations.map(([name]) => name), migrations.map(([, text]) => text)]
  )
  return new Set(rows.map(({ name }) => name))
})

/**
 * Safe to run at every start. Waits while another instance migrates, however long that takes. Returns the names of the
 * migrations that it ran, in their order. The log says how many.
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
  if (left.length === 0) return []
  const ran = (yield* together(yield* Database, left)).map(([name]) => name)
  if (ran.length > 0) yield* Effect.logInfo(`Database ready (${ran.length} migrations).`)
  return ran
}).pipe(Effect.provideService(StatementLimit, Duration.infinity))

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
import { events } from "./migrations/0001_events.ts"
import { accounts } from "./migrations/0002_accounts.ts"
import { projects } from "./migrations/0003_projects.ts"
import { eventFloors } from "./migrations/0004_event_floors.ts"
import { requests } from "./migrations/0005_requests.ts"
import { sequenceByKey } from "./migrations/0006_sequence_by_key.ts"
import { operationClaims } from "./migrations/0007_operations.ts"
import { retention } from "./migrations/0007b_retention.ts"
import { credentials } from "./migrations/0008_credentials.ts"
import { quotas } from "./migrations/0009_quotas.ts"
import { activity } from "./migrations/0010_activity.ts"
import { lists } from "./migrations/0011_lists.ts"
import { instances } from "./migrations/0012_instances.ts"
import { staticComputes } from "./migrations/0012b_static_computes.ts"
import { computeHome } from "./migrations/0012c_compute_home.ts"
import { consent } from "./migrations/0013_consent.ts"
import { joinedEvents } from "./migrations/0015_joined_events.ts"
import { clientRefusals } from "./migrations/0016_client_refusals.ts"
import { hostSessions } from "./migrations/0017_host_sessions.ts"
import { branchKeys } from "./migrations/0018_branch_keys.ts"
import { people } from "./migrations/0018b_people.ts"
import { deletions } from "./migrations/0019_deletions.ts"
import { hostSessionEnds } from "./migrations/0020_host_session_ends.ts"
import { endpointUse } from "./migrations/0021_endpoint_use.ts"
import { dueOperations } from "./migrations/0022_due_operations.ts"
import { computeReach } from "./migrations/0023_compute_reach.ts"
import { turns } from "./migrations/0024_turns.ts"

/** The migrations in the order of execution. A name never changes: databases record migrations by it. */
export const migrations: ReadonlyArray<readonly [name: string, text: string]> = [
  ["0001_events", events],
  ["0002_accounts", accounts],
  ["0003_projects", projects],
  ["0004_event_floors", eventFloors],
  ["0005_requests", requests],
  ["0006_sequence_by_key", sequenceByKey],
  ["0007_operations", operationClaims],
  ["0007b_retention", retention],
  ["0008_credentials", credentials],
  ["0009_quotas", quotas],
  ["0010_activity", activity],
  ["0011_lists", lists],
  ["0012_instances", instances],
  ["0012b_static_computes", staticComputes],
  ["0012c_compute_home", computeHome],
  ["0013_consent", consent],
  ["0015_joined_events", joinedEvents],
  ["0016_client_refusals", clientRefusals],
  ["0017_host_sessions", hostSessions],
  ["0018_branch_keys", branchKeys],
  ["0018b_people", people],
  ["0019_deletions", deletions],
  ["0020_host_session_ends", hostSessionEnds],
  ["0021_endpoint_use", endpointUse],
  ["0022_due_operations", dueOperations],
  ["0023_compute_reach", computeReach],
  ["0024_turns", turns]
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

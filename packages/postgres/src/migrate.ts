/**
 * Brings the schema up to date: every migration once, in order, each with its record in one transaction.
 *
 * Several instances may start at once. An advisory lock, held by the transaction, lets one through; the others then
 * find the migration recorded. It holds behind a pooler too, since nothing is kept between transactions.
 * A record that this program does not know is fine: a newer version runs beside it (schemas only gain).
 *
 * Pitfall: editing a migration that is released. Its text is compared with what was run, and a difference stops the
 * start.
 */
import { StorageError } from "@narthex/core"
import { Duration, Effect } from "effect"
import { Database } from "./database/Database.ts"
import { StatementLimit } from "./driver/transacting.ts"
import { events } from "./migrations/0001_events.ts"
import { accounts } from "./migrations/0002_accounts.ts"
import { projects } from "./migrations/0003_projects.ts"
import { eventFloors } from "./migrations/0004_event_floors.ts"
import { requests } from "./migrations/0005_requests.ts"
import { sequenceByKey } from "./migrations/0006_sequence_by_key.ts"

/** What runs, in this order. A name is for good: it is how a database remembers. */
const migrations: ReadonlyArray<readonly [name: string, text: string]> = [
  ["0001_events", events],
  ["0002_accounts", accounts],
  ["0003_projects", projects],
  ["0004_event_floors", eventFloors],
  ["0005_requests", requests],
  ["0006_sequence_by_key", sequenceByKey]
]

/** One number for all versions of this program, among whatever else takes advisory locks in the database. */
const lock = 7_316_904_412

const record = `create table if not exists narthex_migration (
  name     text primary key,
  checksum text not null,
  at       timestamptz not null default now()
)`

/** The driver sends one command at a time; this makes one of many. */
const asOne = (text: string) =>
  `do $narthex_block$ begin execute $narthex_text$${text}$narthex_text$; end $narthex_block$`

const once = (name: string, text: string): Effect.Effect<void, StorageError, Database> =>
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    const ask = <Row extends object>(statement: string, params: ReadonlyArray<unknown> = []) =>
      query<Row>(`migrate ${name}`, statement, params)
    const step = Effect.gen(function* () {
      yield* ask("select pg_advisory_xact_lock($1)", [lock])
      yield* ask(record)
      const [found] = yield* ask<{ readonly same: boolean }>(
        "select checksum = md5($2) as same from narthex_migration where name = $1",
        [name, text]
      )
      if (found?.same === false) {
        return yield* new StorageError({
          operation: `migrate ${name}`,
          cause: new Error("The database was migrated with another text of this migration.")
        })
      }
      if (found !== undefined) return
      yield* ask(asOne(text))
      yield* ask("insert into narthex_migration (name, checksum) values ($1, md5($2))", [name, text])
      yield* Effect.logInfo(`Migrated the database: ${name}.`)
    })
    yield* transaction(step)
  })

/** Safe to run at every start. Waits as long as another instance migrates. */
export const migrate: Effect.Effect<void, StorageError, Database> = Effect.forEach(
  migrations,
  ([name, text]) => once(name, text),
  { discard: true }
).pipe(Effect.provideService(StatementLimit, Duration.infinity))

/**
 * Stores from before the first release. They are recognized by the records of their migrations, have their tables where
 * the search path of the connection leads, and become stores of the first release: the tables move to the schema.
 *
 * An instance from before finds no table any more, and an instance from before that starts later makes an empty store.
 */
import type { StorageError } from "@narthex/core"
import { Effect } from "effect"
import { quoted } from "./database/ownSchema.ts"
import { objects, ownSchema } from "./migrations/before/schema.ts"
import { turns } from "./migrations/before/turns.ts"

/** The transaction that migrates. */
export interface Migrating {
  /** The rows of one statement. */
  readonly ask: <Row extends object>(
    text: string,
    params?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, StorageError>
  /** From here on, names without a schema are those of this one. */
  readonly enter: (schema: string) => Effect.Effect<unknown, StorageError>
  /** Runs many statements, which name their schemas or mean the one that was entered. */
  readonly run: (text: string) => Effect.Effect<unknown, StorageError>
  /** Fails with this sentence. */
  readonly refused: (why: string) => StorageError
  /** The schema that has the tables afterwards. It exists. */
  readonly schema: string
}

/** The advisory lock under which versions from before migrated. */
const formerLock = 7_316_904_412

/** Digests of the records: of the first 26 migrations, and of the 12 that replaced them. */
const digests = { first: "5249b29d6b58d0339955d0bbd49ab6fa", second: "53836af54e3720d62574a91657968dfa" }

const tableOfRecords = `
select n.nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.oid = coalesce(to_regclass('narthex.narthex_migration'), to_regclass('narthex_migration'))`

const digest = (which: string) => `md5(string_agg(name || ' ' || checksum, ',' order by name collate "C") ${which})`

/** `$1`: the names of the migrations of the first release. */
const known = `
select ${digest("")} as first, ${digest("filter (where name = any ($1))")} as second,
  bool_or(name = '0001_events') and not bool_or(name = any ($1)) as former
from narthex_migration`

/** `release`: the names and the texts of the migrations of the first release, which are recorded. */
export const adopt = Effect.fnUntraced(function* (
  { ask, enter, refused, run, schema }: Migrating,
  release: ReadonlyArray<readonly [name: string, text: string]>
) {
  const located = Effect.map(ask<{ readonly schema: string }>(tableOfRecords), ([row]) => row?.schema)
  let at = yield* located
  if (at !== undefined && at !== schema) {
    yield* ask("select pg_advisory_xact_lock($1)", [formerLock])
    at = yield* located
  }
  if (at === undefined) return
  const names = release.map(([name]) => name)
  yield* enter(at)
  const [records] = yield* ask<{ readonly first: string; readonly second: string; readonly former: boolean }>(known, [
    names
  ])
  const first = records?.first === digests.first
  if (!first && records?.second !== digests.second) {
    if (records?.former !== true) return
    return yield* refused(
      "The database has not all migrations from before the first release. Start the last version before the first release once, then this one."
    )
  }
  if (first) yield* run(turns)
  if (at !== schema) yield* run(objects.map((name) => `alter ${name} set schema ${quoted(schema)};`).join("\n"))
  yield* enter(schema)
  yield* run(ownSchema)
  yield* ask(
    `insert into narthex.narthex_migration (name, checksum)
     select name, md5(text) from unnest($1::text[], $2::text[]) as it(name, text)
     on conflict (name) do update set checksum = excluded.checksum`,
    [names, release.map(([, text]) => text)]
  )
})

/** Upgrades: this release migrates the database of an older release and keeps its rows. */
import { createHash } from "node:crypto"
import { readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { assert, layer } from "@effect/vitest"
import { AccountStore, RegionCatalog } from "@narthex/core"
import { Database, migrate, PostgresStorage } from "@narthex/postgres"
import { Effect, Layer, type Redacted } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { silent } from "../../packages/postgres/test/support/silent.ts"

const directory = resolve(import.meta.dirname, "../../packages/postgres/src/migrations")

/** Each file exports its text and nothing else. */
const textOf = async (file: string): Promise<string> => {
  const exported: ReadonlyArray<unknown> = Object.values(await import(join(directory, file)))
  if (exported.length !== 1 || typeof exported[0] !== "string") throw new Error(`${file} must export one text.`)
  return exported[0]
}

const files = readdirSync(directory)
  .filter((file) => file.endsWith(".ts"))
  .sort()

const migrations = await Promise.all(
  files.map(async (file) => ({ name: file.replace(/\.ts$/, ""), text: await textOf(file) }))
)

/** A statement for each, as the driver sends one at a time. */
const asOne = (text: string) => `do $old_block$ begin ${text} end $old_block$`
const executed = (text: string) => asOne(`execute $old_text$${text}$old_text$;`)

/** The statements that leave the store as a release with these migrations does. */
const applied = (count: number) => [
  "create table narthex_migration (name text primary key, checksum text not null, at timestamptz not null default now())",
  ...migrations
    .slice(0, count)
    .flatMap(({ name, text }) => [
      executed(text),
      `insert into narthex_migration (name, checksum) select '${name}', md5($old$${text}$old$)`
    ])
]

/** A row for every table that has none, with a value for every column by its type. */
const filled = asOne(`
declare
  named record;
begin
  for named in
    select it.table_name,
      string_agg(quote_ident(it.column_name), ', ' order by it.ordinal_position) as columns,
      string_agg(case it.data_type
        when 'text' then '''old'''
        when 'uuid' then '''0198f3d2-7c1a-7b44-9c55-000000000001'''
        when 'boolean' then 'true'
        when 'jsonb' then '''{"id":"old"}'''
        when 'timestamp with time zone' then '''2026-01-01T00:00:00Z'''
        else '1' end, ', ' order by it.ordinal_position) as row
    from information_schema.columns as it
    join information_schema.tables as t using (table_schema, table_name)
    where it.table_schema = 'public' and t.table_type = 'BASE TABLE'
      and it.table_name not in ('narthex_migration', 'event_head')
      and it.is_generated = 'NEVER' and it.identity_generation is null
    group by it.table_name order by it.table_name
  loop
    execute format('insert into %I (%s) values (%s)', named.table_name, named.columns, named.row);
  end loop;
  update event_head set pos = 1;
end;`)

const tables = `select table_name as name from information_schema.tables
where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'narthex_migration' order by 1`

/** Columns that a migration takes away, with no data of users: the turns of claims begin again. */
const gone: Readonly<Record<string, ReadonlyArray<string>>> = {
  operation_turn: ["class", "org_id", "project_id", "served"],
  operation_person_turn: ["class", "person", "served"],
  operation_head: ["project_id"]
}

/** Runs the statements over one connection, and returns the rows of each. */
const session = (url: Redacted.Redacted<string>, statements: ReadonlyArray<string>) =>
  PgConnection.make({ url }).pipe(
    Effect.flatMap(({ query }) => Effect.forEach(statements, (text) => Effect.map(query(text), ({ rows }) => rows))),
    Effect.scoped,
    Effect.orDie
  )

/** Every row of every table, as JSON. */
const contents = (url: Redacted.Redacted<string>) =>
  Effect.gen(function* () {
    const { admin } = yield* PostgresServer
    const names = (yield* admin(tables, url)).map((row) => String(row["name"]))
    const rows = yield* session(
      url,
      names.map((name) => `select to_jsonb(it) as it from "${name}" as it`)
    )
    return new Map(names.map((name, at) => [name, (rows[at] ?? []).map((row) => row["it"])]))
  })

layer(PostgresServer.layer, { excludeTestServices: true })("a database of an older release", (it) => {
  it.effect.each(migrations.slice(0, -1).map(({ name }, at) => ({ count: at + 1, name })))(
    "a database whose last migration is $name is migrated with every row kept",
    ({ count }) =>
      Effect.gen(function* () {
        const { admin, database } = yield* PostgresServer
        const url = yield* database
        yield* session(url, [...applied(count), filled])
        const before = yield* contents(url)
        for (const [name, rows] of before) assert.lengthOf(rows, 1, name)

        const present = Layer.fresh(Database.layer({ url, maxConnections: 4, applicationName: "narthex-test" }))
        yield* Effect.gen(function* () {
          yield* migrate
          const after = yield* contents(url)
          for (const [name, [row]] of before) {
            const kept = Object.entries(row ?? {}).filter(([column]) => !gone[name]?.includes(column))
            if (kept.length > 0) assert.containsSubset(after.get(name)?.[0], Object.fromEntries(kept), name)
          }
          assert.lengthOf(yield* admin("select 1 from narthex_migration", url), migrations.length)

          // The present release works with what it found.
          assert.deepStrictEqual(yield* admin("select event_sequence(10) as moved", url), [{ moved: 1 }])
          yield* Effect.gen(function* () {
            const users = (yield* (yield* AccountStore).users({ limit: 10, after: null })).items.map(({ id }) =>
              String(id)
            )
            assert.deepStrictEqual(users, before.has("user_account") ? ["old"] : [])
            const regions = (yield* (yield* RegionCatalog).all).map(({ region }) => String(region.region_id))
            assert.deepStrictEqual(regions, before.has("region") ? ["old"] : [])
          }).pipe(Effect.provide(PostgresStorage.layer, { local: true }))
        }).pipe(Effect.provide(present, { local: true }), Effect.provide(silent))
      })
  )

  it.effect("a deletion that an older release has scheduled is among the deletions afterwards", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      const scheduled = (branch: string, action: string) =>
        `insert into operation (id, org_id, project_id, branch_id, action, status, failures_count, initiator, created_at,
           updated_at) values ('${branch}', 'org', 'prj', '${branch}', '${action}', 'scheduling', 0, '{}', now(), now())`
      const before = applied(migrations.findIndex(({ name }) => name === "0019_deletions"))
      yield* session(url, [...before, scheduled("a", "delete_timeline"), scheduled("b", "create_branch")])
      const present = Layer.fresh(Database.layer({ url, maxConnections: 4, applicationName: "narthex-test" }))
      yield* Effect.provide(migrate, [present, silent], { local: true })
      assert.deepStrictEqual(yield* admin("select class from operation_head order by operation_id", url), [
        { class: "deletions" },
        { class: "branches" }
      ])
    })
  )

  it("the text of a released migration does not change", () => {
    const digest = (text: string) => createHash("md5").update(text).digest("hex")
    assert.deepStrictEqual(Object.fromEntries(migrations.map(({ name, text }) => [name, digest(text)])), released)
  })
})

/** Databases remember these. A line is added with a migration, and never changed. */
const released = {
  "0001_events": "d9d7e310a42b5ef630c5bf2c1a339bc8",
  "0002_accounts": "15112aba5ea0fc8e2596f5e5142f6cff",
  "0003_projects": "b4f8945af458e819d5a120371fe8b36c",
  "0004_event_floors": "0f2fece004610ab5bc430564928b6e76",
  "0005_requests": "3461e58d59c43c95682abc80d1f66a93",
  "0006_sequence_by_key": "a0ea2366eabf2a0befbf40382b5fc73c",
  "0007_operations": "433e0bac48a5559e3ee8482ab3d8f99a",
  "0007b_retention": "86ab50e2f45ba55b5ed46cb99ac2709b",
  "0008_credentials": "c485c6c96b373cda91fa42525120e8a5",
  "0009_quotas": "cd40e5f682d1581eee87aee6d5e31430",
  "0010_activity": "e2f9a6680803c65f59b6add5703857bd",
  "0011_lists": "85ab06c18e9dcfe35e641b32f3ccf25a",
  "0012_instances": "12ffc1f8244c477edaf24dfaa78ca085",
  "0012b_static_computes": "e106cbef6a681fc0b72694f95a5d0929",
  "0012c_compute_home": "aa4909dc3f195730f01c47acdd9dab3e",
  "0013_consent": "9bc51d919d5adde6eaba3108fc4defc3",
  "0015_joined_events": "3db9f39966cfeaa4f108f081d7df63e2",
  "0016_client_refusals": "44f7c703c0d4721243b5af53362fa0ea",
  "0017_host_sessions": "01f75e9a8a3f0ddf5351ce89faed6919",
  "0018_branch_keys": "6a02a9318be1c8a8edea49828c2b29e9",
  "0018b_people": "b79cb6415533e14768acfcb13f275414",
  "0019_deletions": "75af92c5f70234c0eeb46d1e792507d1",
  "0020_host_session_ends": "5933f41f85714bab5c7ac872bf6f2878",
  "0021_endpoint_use": "ab32de31f289f632ad3add436d88ad5f",
  "0022_due_operations": "68b6910c064684c6d7f7af35884f2e77",
  "0023_compute_reach": "e764d23281dc544435863a24a4ae4f04",
  "0024_turns": "3dc8a80e6ef2e155a5c0ed87c7a935ab"
}

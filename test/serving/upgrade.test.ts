/** Upgrades: this release migrates the database of an older release and keeps its rows. */
import { createHash } from "node:crypto"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { assert, layer } from "@effect/vitest"
import { AccountStore, RegionCatalog } from "@narthex/core"
import { Database, migrate, PostgresStorage } from "@narthex/postgres"
import { Effect, Layer, type Redacted } from "effect"
import { migrations } from "../../packages/postgres/src/migrationList.ts"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { silent } from "../../packages/postgres/test/support/silent.ts"
import released from "./migrationDigests.json" with { type: "json" }

/** A statement for each, as the driver sends one at a time. */
const asOne = (text: string) => `do $old_block$ begin ${text} end $old_block$`
const executed = (text: string) => asOne(`execute $old_text$${text}$old_text$;`)

/** The statements that leave the store as a release with these migrations does. */
const applied = (count: number) => [
  "create table narthex_migration (name text primary key, checksum text not null, at timestamptz not null default now())",
  ...migrations
    .slice(0, count)
    .flatMap(([name, text]) => [
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
  it.effect.each(migrations.slice(0, -1).map(([name], at) => ({ count: at + 1, name })))(
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
      const before = applied(migrations.findIndex(([name]) => name === "0019_deletions"))
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
    assert.deepStrictEqual(Object.fromEntries(migrations.map(([name, text]) => [name, digest(text)])), released)
  })
})

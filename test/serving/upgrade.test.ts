/** Upgrades: the database of an older version is kept, with its rows, and has the schema of a new one. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { assert, layer } from "@effect/vitest"
import { AccountStore, RegionCatalog } from "@narthex/core"
import { Database, migrate, PostgresStorage } from "@narthex/postgres"
import { Effect, Fiber, Redacted } from "effect"
import { turns } from "../../packages/postgres/src/migrations/before/turns.ts"
import { heldLock } from "../../packages/postgres/test/support/heldLock.ts"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { silent } from "../../packages/postgres/test/support/silent.ts"
import { eventually } from "../harness/eventually.ts"
import { catalog } from "./support/catalog.ts"

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

/** The driver sends one statement at a time. */
const asOne = (text: string) => `do $block$ begin ${text} end $block$`

const dump = readFileSync(join(import.meta.dirname, "support/beforeFirstRelease.sql"), "utf8")

/** The store that the last version before the first release leaves behind. */
const beforeFirstRelease = asOne(`execute $dump$${dump}$dump$;`)

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
      and it.table_name <> 'narthex_migration'
      and it.is_generated = 'NEVER' and it.identity_generation is null
    group by it.table_name order by it.table_name
  loop
    execute format('insert into %I (%s) values (%s)', named.table_name, named.columns, named.row);
  end loop;
end;`)

const tables = (schema: string) => `select table_name as name from information_schema.tables
where table_schema = '${schema}' and table_type = 'BASE TABLE' and table_name <> 'narthex_migration' order by 1`

/** Runs the statements over one connection, and returns the rows of each. */
const session = (url: Redacted.Redacted<string>, statements: ReadonlyArray<string>) =>
  PgConnection.make({ url }).pipe(
    Effect.flatMap(({ query }) => Effect.forEach(statements, (text) => Effect.map(query(text), ({ rows }) => rows))),
    Effect.scoped,
    Effect.orDie
  )

/** Every row of every table of a schema, as JSON. */
const contents = (url: Redacted.Redacted<string>, schema: string) =>
  Effect.gen(function* () {
    const { admin } = yield* PostgresServer
    const names = (yield* admin(tables(schema), url)).map((row) => String(row["name"]))
    const rows = yield* session(
      url,
      names.map((name) => `select to_jsonb(it) as it from ${schema}."${name}" as it`)
    )
    return new Map(names.map((name, at) => [name, (rows[at] ?? []).map((row) => row["it"])]))
  })

/**
 * The rows after an upgrade. Turns begin again, and a person has none. Operations are placed in the region of their
 * project, and the directory of computes in the first region. Endpoints have no size. Nothing else is changed.
 */
const kept = (before: ReadonlyMap<string, ReadonlyArray<unknown>>) => {
  const rows = new Map<string, ReadonlyArray<unknown>>(before)
  rows.delete("operation_person_turn")
  rows.set("operation_turn", [])
  rows.set(
    "operation_head",
    (before.get("operation_head") ?? []).map((row) => {
      const { project_id: _, ...rest } = Object(row)
      return { ...rest, region_id: "old" }
    })
  )
  rows.set(
    "operation",
    (before.get("operation") ?? []).map((row) => ({ ...Object(row), region_id: "old" }))
  )
  rows.set(
    "endpoint",
    (before.get("endpoint") ?? []).map((row) => ({ ...Object(row), size: null, resized: false }))
  )
  rows.set("region_home", [{ region_id: "old", home: "old" }])
  rows.set("region_runner", [])
  for (const name of ["audit_entry", "webhook", "webhook_delivery"]) rows.set(name, [])
  return rows
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

const present = (url: Redacted.Redacted<string>) =>
  Database.layer({ url, maxConnections: 4, applicationName: "narthex-test" })

const upgraded = (url: Redacted.Redacted<string>) => Effect.provide(migrate, [present(url), silent], { local: true })

/** Two instances start while one from before migrates, and wait for it. */
const upgradedByTwo = (url: Redacted.Redacted<string>) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const third = yield* heldLock(7_316_904_412)
    const waiting = "datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0"
    const both = yield* Effect.forkChild(Effect.all([upgraded(url), upgraded(url)], { concurrency: "unbounded" }))
    yield* eventually(
      "one to wait for the third, and another for that one",
      Effect.map(query("test", `select 1 from pg_stat_activity where ${waiting}`), ({ length }) => length === 2)
    ).pipe(Effect.ensuring(Effect.orDie(third.release)))
    return yield* Fiber.join(both)
  }).pipe(Effect.provide(present(url), { local: true }))

const records = "select name from narthex_migration"

/** Databases remember these. A line is added with a migration, and never changed. */
const released = {
  "0001_accounts": "bc772ba4b34fbadfd830a6e426851fa5",
  "0002_regions": "80dfda5234a4ef96c22b90476931ea8a",
  "0003_keys": "5eb4fd9727a3cc4929df7ba9b86dd878",
  "0004_projects": "6f6fa8d4c93d1351d330d1e5650fe847",
  "0005_computes": "39ec80dfb7e5c910144a0628f591191e",
  "0006_sessions": "91aee37c2b2618f5d718a4f4c70f7541",
  "0007_requests": "3461e58d59c43c95682abc80d1f66a93",
  "0008_events": "6e4f8fad6304508eae34fd309860a024",
  "0009_operations": "89418b72cb232adce4fb6fd004af08cf",
  "0010_quotas": "c26c8700c4ed09a04911060ba28b646f",
  "0011_allowlist": "a35510a6e4a21a2a63c22785f38e4f36",
  "0012_cli_login": "30970a5a47a2424a7fcb75d3340e7b49",
  "0013_places": "e4c53b9d163f90b29664f6e6f6446131",
  "0014_audit": "1c4a110b84b8546987dac1d3d66d715d",
  "0015_sizes": "bb37736540f02555848539ebcb109ae5",
  "0016_webhooks": "3a084daf5263a9e9648c512e6054ad85"
}

/** The migrations that a database from before the first release has not run: the first twelve are recognized. */
const later = migrations.slice(12).map(({ name }) => name)

/** The same before the tables had a schema of their own. */
const releasedInPublic = {
  ...Object.fromEntries(Object.entries(released).slice(0, 12)),
  "0006_sessions": "0bf2f6d72ef7da3ddbf56cda628d99b7",
  "0008_events": "0ee2d9ec5851486ed1efc90d9cce7adb",
  "0009_operations": "a432c72b843897dac0f7da9c199b0569"
}

const recordedInPublic = `insert into narthex_migration (name, checksum) values ${Object.entries(releasedInPublic)
  .map(([name, checksum]) => `('${name}', '${checksum}')`)
  .join(", ")}`

/** Stores from before the first release, each by the statements that make it. */
const former: ReadonlyArray<readonly [name: string, statements: ReadonlyArray<string>]> = [
  ["the last version before the first release", [beforeFirstRelease]],
  [
    "a version with the present migrations",
    [beforeFirstRelease, asOne(turns), "delete from narthex_migration", recordedInPublic]
  ],
  ["a version with the present migrations that was upgraded", [beforeFirstRelease, asOne(turns), recordedInPublic]]
]

layer(PostgresServer.layer, { excludeTestServices: true })("a database from before the first release", (it) => {
  it.effect("a database of the last version before is recognized, with every row kept, by two instances at once", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      yield* session(url, [beforeFirstRelease, filled])
      const before = yield* contents(url, "public")
      const recorded = yield* admin(records, url)
      for (const [name, rows] of before) assert.lengthOf(rows, 1, name)

      const ran = yield* upgradedByTwo(url)
      assert.deepStrictEqual([ran.flat(), yield* upgraded(url)], [later, []])
      const after = [...(yield* contents(url, "narthex"))].toSorted(byName)
      assert.deepStrictEqual(after, [...kept(before)].toSorted(byName))
      const all = [...recorded, ...migrations.map(({ name }) => ({ name }))]
      assert.sameDeepMembers([...(yield* admin(records, url))], all)

      // The present release works with what it found.
      assert.deepStrictEqual(yield* admin("select narthex.event_sequence(10) as moved", url), [{ moved: 1 }])
      yield* Effect.gen(function* () {
        const users = (yield* (yield* AccountStore).users({ limit: 10, after: null })).items.map(({ id }) => String(id))
        const regions = (yield* (yield* RegionCatalog).all).map(({ region }) => String(region.region_id))
        assert.deepStrictEqual([users, regions], [["old"], ["old"]])
      }).pipe(
        Effect.provide(PostgresStorage.layer, { local: true }),
        Effect.provide([present(url), silent], { local: true })
      )
    })
  )

  for (const [name, statements] of former)
    it.effect(`the tables of ${name} move to the schema, which is then that of a new database`, () =>
      Effect.gen(function* () {
        const { admin, database } = yield* PostgresServer
        const [old, fresh] = [yield* database, yield* database]
        yield* session(old, statements)
        assert.deepStrictEqual(yield* upgraded(old), later)
        assert.lengthOf(yield* upgraded(fresh), migrations.length)
        const definitions = yield* admin(catalog("narthex"), fresh)
        assert.isAbove(definitions.length, 500)
        assert.deepStrictEqual(yield* admin(catalog("narthex"), old), definitions)
        assert.deepStrictEqual(yield* admin(catalog("public"), old), [])
      })
    )

  it.effect("tables where the search path leads move to the schema that was chosen, and the host's stay", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      yield* session(url, ["create schema app", "create table app.invoice ()", "create table public.project ()"])
      yield* session(url, [asOne(`execute $dump$${dump.replaceAll("public.", "app.")}$dump$;`)])
      const there = new URL(Redacted.value(url))
      there.searchParams.set("options", "-c search_path=app")
      const chosen = Database.layer({
        url: Redacted.make(there.toString()),
        maxConnections: 1,
        applicationName: "narthex-test",
        schema: "Own Schema"
      })
      yield* Effect.provide(migrate, [chosen, silent], { local: true })
      const left = (schema: string) => admin(tables(schema), url)
      assert.deepStrictEqual(yield* left("app"), [{ name: "invoice" }])
      assert.deepStrictEqual(yield* left("public"), [{ name: "project" }])
      assert.lengthOf(yield* left("Own Schema"), 42)
    })
  )

  it.effect("tables stay in the schema public where that is chosen", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      yield* session(url, [beforeFirstRelease])
      const options = { url, maxConnections: 1, applicationName: "narthex-test", schema: "public" }
      const start = Effect.provide(migrate, [Database.layer(options), silent], { local: true })
      assert.deepStrictEqual([yield* start, yield* start], [later, []])
      assert.lengthOf(yield* admin(tables("public"), url), 42)
      assert.deepStrictEqual(yield* admin("select to_regnamespace('narthex') is null as none", url), [{ none: true }])
    })
  )

  it.effect("tables that another schema of this release has stay there", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      const options = { url, maxConnections: 1, applicationName: "narthex-test", schema: "public" }
      const inPublic = Effect.provide(migrate, [Database.layer(options), silent], { local: true })
      assert.lengthOf(yield* inPublic, migrations.length)
      assert.lengthOf(yield* upgraded(url), migrations.length)
      for (const schema of ["public", "narthex"]) assert.lengthOf(yield* admin(tables(schema), url), 42)
    })
  )

  it.effect("a database of an earlier one is refused, unchanged, with the version to start first", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      yield* session(url, [beforeFirstRelease, "delete from narthex_migration where name = '0023_compute_reach'"])
      const before = yield* admin(records, url)
      const error = yield* Effect.flip(upgraded(url))
      assert.include(error.line, "Start the last version before the first release once, then this one.")
      assert.deepStrictEqual(yield* admin(records, url), before)
    })
  )

  it("the text of a released migration does not change", () => {
    const digest = (text: string) => createHash("md5").update(text).digest("hex")
    assert.deepStrictEqual(Object.fromEntries(migrations.map(({ name, text }) => [name, digest(text)])), released)
  })
})

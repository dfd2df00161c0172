/** Migrations run once, with any number of instances, and never after a change of their text. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database, migrate } from "../src/index.ts"
import { migrations } from "../src/migrate.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { silent } from "./support/silent.ts"

const starter = (url: Parameters<typeof Database.layer>[0]["url"]) =>
  Effect.provide(migrate, Database.layer({ url, maxConnections: 2, applicationName: "narthex-test" }), { local: true })

layer(PostgresServer.layer, { excludeTestServices: true })("migrate", (it) => {
  it.effect("each migration runs once, however many instances start at the same time", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      const ran = yield* Effect.forEach(Array.from({ length: 6 }), () => starter(url), { concurrency: "unbounded" })
      assert.isEmpty(yield* starter(url))
      const names = migrations.map(([name]) => name)
      assert.sameMembers(ran.flat(), names)
      assert.deepStrictEqual(
        yield* admin("select name from narthex_migration order by name", url),
        names.map((name) => ({ name }))
      )
      assert.deepStrictEqual(yield* admin("select pos::int, timeline from event_head", url), [
        { pos: 0, timeline: null }
      ])
    }).pipe(Effect.provide(silent))
  )

  it.effect("migrating stops at a migration whose text differs from the one that ran", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      yield* starter(url)
      yield* admin("update narthex_migration set checksum = 'edited'", url)
      const error = yield* Effect.flip(starter(url))
      assert.strictEqual(error.operation, "migrate 0001_accounts")
    }).pipe(Effect.provide(silent))
  )

  it.effect("a start on a schema that is up to date takes two statements and no transaction", () =>
    Effect.gen(function* () {
      const { database } = yield* PostgresServer
      const url = yield* database
      yield* starter(url)
      const statements: Array<string> = []
      const counted = Effect.gen(function* () {
        const inner = yield* Database
        return yield* Effect.provideService(migrate, Database, {
          ...inner,
          query: (operation, text, params) => {
            statements.push(text)
            return inner.query(operation, text, params)
          },
          transaction: () => Effect.die("A transaction began.")
        })
      })
      yield* Effect.provide(counted, Database.layer({ url, maxConnections: 1, applicationName: "narthex-test" }))
      assert.lengthOf(statements, 2)
    }).pipe(Effect.provide(silent))
  )

  it.effect("a migration that no record names runs, also when later ones ran", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      yield* starter(url)
      yield* admin("drop table ip_rule, ip_allowlist, client_refusal, refusal_report", url)
      yield* admin("delete from narthex_migration where name = '0011_allowlist'", url)
      yield* starter(url)
      assert.lengthOf(yield* admin("select 1 from ip_rule", url), 0)
      assert.lengthOf(yield* admin("select 1 from narthex_migration where name = '0011_allowlist'", url), 1)
    }).pipe(Effect.provide(silent))
  )

  it.effect("a migration that fails leaves nothing of those before it behind, and not their schema", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      const refusal = "create function refuse() returns event_trigger language plpgsql as 'begin raise ''no''; end'"
      yield* admin(refusal, url)
      // The first function is one of the fourth migration.
      const trigger = "create event trigger refusal on ddl_command_start when tag in ('CREATE FUNCTION')"
      yield* admin(`${trigger} execute function refuse()`, url)
      assert.strictEqual((yield* Effect.flip(starter(url))).operation, "migrate 0004_projects")
      assert.deepStrictEqual(yield* admin("select to_regnamespace('narthex') is null as none", url), [{ none: true }])
      yield* admin("drop event trigger refusal", url)
      assert.lengthOf(yield* starter(url), migrations.length)
    }).pipe(Effect.provide(silent))
  )

  it.effect("a schema with an object that has the name of another one stays as it is", () =>
    Effect.gen(function* () {
      const { admin, database } = yield* PostgresServer
      const url = yield* database
      yield* admin("create schema narthex create table narthex.operation_head (n int)", url)
      const error = yield* Effect.flip(starter(url))
      assert.strictEqual(error.failure.code, "42P07")
      const held = "select relname from pg_class where relnamespace = 'narthex'::regnamespace"
      assert.deepStrictEqual(yield* admin(held, url), [{ relname: "operation_head" }])
      yield* admin("drop table operation_head", url)
      assert.lengthOf(yield* starter(url), migrations.length)
    }).pipe(Effect.provide(silent))
  )
})

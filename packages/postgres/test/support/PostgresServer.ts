/**
 * A real Postgres for tests, in two forms.
 *
 * `layer` is the server that all test files of a run share; each test creates its databases on it. With
 * `NARTHEX_TEST_DATABASE_URL` that server is used instead.
 *
 * `layerOwn` is a separate server for one test file, for tests of a whole server: crashes, promotions, ended backends.
 */
import { createHash, randomBytes } from "node:crypto"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { resource } from "../../../../test/harness/resource.ts"
import { Database } from "../../src/database/Database.ts"
import { migrate, migrations } from "../../src/migrate.ts"
import { ServerProcess } from "./ServerProcess.ts"
import { silent } from "./silent.ts"

interface Databases {
  /** How to reach a database of this server. */
  readonly url: (database: string) => Redacted.Redacted<string>
  /**
   * Runs one statement over a connection of its own: on this database, else on the maintenance database. Names without a
   * schema are also those of Narthex's tables.
   */
  readonly admin: (text: string, on?: Redacted.Redacted<string>) => Effect.Effect<ReadonlyArray<PgConnection.Row>>
  /** An empty database; dropped with the scope, even while others are connected to it. */
  readonly database: Effect.Effect<Redacted.Redacted<string>, never, Scope.Scope>
  /**
   * A database that a test migrates. On the shared server it is a copy of one that was migrated once for all test
   * files, so that its migration takes no time.
   */
  readonly migrated: Effect.Effect<Redacted.Redacted<string>, never, Scope.Scope>
}

const startupParameters = { search_path: "public, narthex" }

export class PostgresServer extends Context.Service<PostgresServer, Databases>()(
  "@narthex/postgres/test/PostgresServer"
) {
  static readonly layer: Layer.Layer<PostgresServer> = Layer.effect(
    PostgresServer,
    Effect.promise(async () => {
      const given = process.env["NARTHEX_TEST_DATABASE_URL"]
      if (given !== undefined) return databasesAt(given, false)
      return databasesAt((await resource<{ readonly url: string }>("postgres")).url, true)
    })
  )

  static readonly layerOwn: Layer.Layer<PostgresServer | PostgresControl> = Layer.effectContext(
    Effect.map(
      Effect.acquireRelease(Effect.promise(ServerProcess.start), (server) => Effect.promise(() => server.remove())),
      (server) =>
        Context.make(PostgresServer, databasesAt(server.url, false)).pipe(
          Context.add(PostgresControl, {
            crash: Effect.promise(() => server.crash()),
            promote: Effect.promise(() => server.promote())
          })
        )
    )
  )
}

/** The control over a separate server. */
export class PostgresControl extends Context.Service<
  PostgresControl,
  {
    /** Kills every process of the server without a checkpoint and starts it again. */
    readonly crash: Effect.Effect<void>
    /** The same, but it comes back on a new timeline, as after a failover or a restore. */
    readonly promote: Effect.Effect<void>
  }
>()("@narthex/postgres/test/PostgresControl") {}

function databasesAt(server: string, shared: boolean): Databases {
  const url = (database: string) => {
    const it = new URL(server)
    it.pathname = `/${database}`
    // The driver's deadline is 5 s, which a loaded machine may exceed. The limit of the test catches a hang.
    it.searchParams.set("connect_timeout", "60")
    return Redacted.make(it.toString())
  }
  const admin = (text: string, on = Redacted.make(server)) =>
    Effect.scoped(
      Effect.flatMap(PgConnection.make({ url: on, startupParameters }), (connection) => connection.query(text))
    ).pipe(
      Effect.map((result) => result.rows),
      Effect.orDie
    )
  const databaseLike = (template: string) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const name = `narthex_test_${randomBytes(8).toString("hex")}`
        return Effect.as(admin(`create database ${name} template ${template}`), name)
      }),
      (name) => admin(`drop database if exists ${name} with (force)`)
    ).pipe(Effect.map(url))
  const empty = databaseLike("template1")
  return {
    url,
    admin,
    database: empty,
    migrated: shared ? Effect.andThen(makeTemplate({ admin, url }, server), databaseLike(template)) : empty
  }
}

/**
 * The template is for one text of the migrations. A run that plants faults has several: a copy of the template of
 * another text would be refused by `migrate`, and no test of behaviour would see the fault.
 */
const template = `narthex_test_migrated_${createHash("sha256").update(JSON.stringify(migrations)).digest("hex").slice(0, 16)}`

/** Makes the template if there is none. Other workers wait for it on an advisory lock. */
const makeTemplate = ({ admin, url }: Pick<Databases, "admin" | "url">, server: string) =>
  Effect.gen(function* () {
    const lock = yield* PgConnection.make({ url: Redacted.make(server) })
    yield* lock.query("select pg_advisory_lock(7003)")
    const found = yield* lock.query(`select datname from pg_database where datname = '${template}'`)
    if (found.rows.length > 0) return
    // The template gets its name once it is complete and nothing is connected to it.
    const draft = `${template}_draft`
    yield* admin(`drop database if exists ${draft} with (force)`)
    yield* admin(`create database ${draft}`)
    const on = Database.layer({ url: url(draft), maxConnections: 1, applicationName: "narthex-test", listenUrl: "off" })
    yield* Effect.provide(migrate, Layer.merge(on, silent), { local: true })
    yield* admin(`alter database ${draft} rename to ${template}`)
  }).pipe(Effect.scoped, Effect.orDie)

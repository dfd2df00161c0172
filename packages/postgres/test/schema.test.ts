/** The schema of the tables: any name, and several in one database. Holds docs/design/library.md N47, N48 and N49. */
import { assert, it, layer } from "@effect/vitest"
import { AccountStore, EventLog, RegionCatalog, RegionId, Transaction } from "@narthex/core"
import { anOrganization } from "@narthex/core/testing"
import { Deferred, Effect, Fiber, Layer, Option, Queue, type Redacted, Stream } from "effect"
import { event } from "../../core/testing/events/logFixtures.ts"
import { isSchemaName } from "../src/database/ownSchema.ts"
import { Database, migrate, PostgresStorage } from "../src/index.ts"
import { heldLock } from "./support/heldLock.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { silent } from "./support/silent.ts"
import { soon } from "./support/soon.ts"

const on = (url: Redacted.Redacted<string>, schema?: string) =>
  Database.layer({ url, maxConnections: 4, applicationName: "narthex-test", schema })

const storage = (url: Redacted.Redacted<string>, schema?: string) =>
  PostgresStorage.layer.pipe(
    Layer.provideMerge(Layer.effectDiscard(Effect.provide(migrate, silent))),
    Layer.provideMerge(on(url, schema)),
    Layer.fresh
  )

const commit = Effect.gen(function* () {
  const org = anOrganization()
  const { emit, run } = yield* Transaction
  yield* run(Effect.andThen((yield* AccountStore).putOrganization(org), emit(event(org.id, null, 1))))
  const { sequence } = yield* EventLog
  yield* sequence
  return org
})

const tables = (schema: string) =>
  `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind = 'r' and n.nspname = '${schema.replaceAll("'", "''")}'`

const names = ["public", "Narthex", `it's "theirs" narthex.$f$ ü`, "select", "n".repeat(63)]

layer(PostgresServer.layer, { excludeTestServices: true, timeout: "60 seconds" })("the schema of the tables", (it) => {
  for (const schema of names)
    it.effect(`a schema named ${schema} has every table, and its events are announced`, () =>
      Effect.gen(function* () {
        const { admin, database } = yield* PostgresServer
        const url = yield* database
        yield* Effect.gen(function* () {
          const { listen, schema } = yield* Database
          const notices = yield* Queue.unbounded<string>()
          yield* Effect.forkScoped(Stream.runForEach(listen(schema), ({ _tag }) => Queue.offer(notices, _tag)))
          assert.strictEqual(yield* soon("the subscription", Queue.take(notices)), "Subscribed")
          const { id } = yield* commit
          assert.strictEqual(yield* soon("the notification", Queue.take(notices)), "Notified")
          assert.isTrue(Option.isSome(yield* (yield* AccountStore).findOrganization(id)))
        }).pipe(Effect.provide(storage(url, schema), { local: true }))
        assert.lengthOf(yield* admin(tables(schema), url), 43)
        assert.lengthOf(yield* admin(tables("narthex"), url), 0)
      })
    )

  it.effect("two schemas in one database neither hear nor wait for each other", () =>
    Effect.gen(function* () {
      const url = yield* (yield* PostgresServer).database
      const one = yield* Layer.build(storage(url))
      const migrating = heldLock("hashtextextended('narthex migrates narthex', 0)")
      const held = yield* Effect.provide(migrating, one)
      const other = yield* Layer.build(storage(url, "other"))
      yield* held.release

      const payloads = yield* Queue.unbounded<string>()
      const listening = Effect.flatMap(Database, ({ listen, schema }) =>
        Stream.runForEach(listen(schema), (notice) =>
          Queue.offer(payloads, notice._tag === "Notified" ? notice.payload : notice._tag)
        )
      )
      yield* Effect.forkScoped(Effect.provide(listening, one))
      assert.strictEqual(yield* soon("the subscription", Queue.take(payloads)), "Subscribed")
      // A session gets notifications in the order of commits: the next is that of `one`, whose log had no event.
      for (let n = 0; n < 3; n++) yield* Effect.provide(commit, other)
      yield* Effect.provide(commit, one)
      assert.strictEqual(yield* soon("the notification", Queue.take(payloads)), "1")

      // The catalogs of regions change at once, each under its own lock.
      const [changed, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const seed = (id: string) => Effect.flatMap(RegionCatalog, (catalog) => catalog.seed([RegionId.make(id)]))
      const open = Effect.flatMap(Database, ({ transaction }) =>
        transaction(
          Effect.andThen(seed("eu"), Effect.andThen(Deferred.succeed(changed, undefined), Deferred.await(release)))
        )
      )
      const holder = yield* Effect.forkChild(Effect.provide(open, one))
      yield* Deferred.await(changed)
      yield* Effect.provide(seed("us"), other)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      const regions = Effect.flatMap(RegionCatalog, ({ all }) =>
        Effect.map(all, (entries) => entries.map(({ region }) => String(region.region_id)))
      )
      assert.deepStrictEqual(
        [yield* Effect.provide(regions, one), yield* Effect.provide(regions, other)],
        [["eu"], ["us"]]
      )
    })
  )
})

it("a name that Postgres reserves or cuts off is refused", () => {
  for (const name of names) assert.isTrue(isSchemaName(name), name)
  for (const name of ["", "pg_own", "information_schema", "n".repeat(64), "ü".repeat(32), "a\0b", "\ud800"])
    assert.isFalse(isSchemaName(name), name)
})

it.effect("a database layer with such a name fails before it connects", () =>
  Effect.gen(function* () {
    const url = PostgresServer.use(({ url }) => Effect.succeed(url("none")))
    const error = yield* Effect.flip(Layer.build(on(yield* url, "pg_own")))
    assert.include(error.line, "not beginning with pg_")
  }).pipe(Effect.scoped, Effect.provide(PostgresServer.layer))
)

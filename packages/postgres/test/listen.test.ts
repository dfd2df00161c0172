/** Notifications: what arrives, and that the subscription outlives its backend and the server. */
import { assert, layer } from "@effect/vitest"
import { type Duration, Effect, Queue, type Redacted, Stream } from "effect"
import { Database } from "../src/index.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { silent } from "./support/silent.ts"
import { emptyDatabase } from "./support/TestDatabase.ts"

/** What the channel says, one by one, for as long as the test runs. */
const heard = (database: Database["Service"], channel: string) =>
  Effect.gen(function* () {
    const queue = yield* Queue.unbounded<string>()
    const listening = Stream.runForEach(database.listen(channel), (payload) => Queue.offer(queue, payload))
    yield* Effect.forkScoped(Effect.provide(listening, silent))
    return { next: Queue.take(queue) }
  })

const notify = (channel: string, payload: string) =>
  Effect.flatMap(Database, ({ query }) => query("test", "select pg_notify($1, $2)", [channel, payload]))

layer(emptyDatabase, { excludeTestServices: true })("Database.listen", (it) => {
  it.effect("says that it is subscribed, then what is notified, in order", () =>
    Effect.gen(function* () {
      const { next } = yield* heard(yield* Database, "news")
      assert.strictEqual(yield* next, "")
      yield* notify("other", "unheard")
      yield* notify("news", "one")
      yield* notify("news", "two")
      assert.deepStrictEqual([yield* next, yield* next], ["one", "two"])
    })
  )

  it.effect("subscribes again when its backend is lost, and says so", () =>
    Effect.gen(function* () {
      const { admin } = yield* PostgresServer
      const { next } = yield* heard(yield* Database, "lossy")
      assert.strictEqual(yield* next, "")
      for (const payload of ["once", "twice"]) {
        yield* admin("select pg_terminate_backend(pid) from pg_stat_activity where query = 'LISTEN \"lossy\"'")
        assert.strictEqual(yield* next, "")
        yield* notify("lossy", payload)
        assert.strictEqual(yield* next, payload)
      }
    })
  )

  it.effect("subscribes again when the server is back", () =>
    Effect.gen(function* () {
      const { control } = yield* PostgresServer
      if (control === undefined) return
      const { next } = yield* heard(yield* Database, "crash")
      assert.strictEqual(yield* next, "")
      yield* control.crash
      assert.strictEqual(yield* next, "")
    })
  )

  it.effect("holds no connection of the pool", () =>
    Effect.gen(function* () {
      const { database } = yield* PostgresServer
      const one = Database.layer({ url: yield* database, maxConnections: 1, applicationName: "narthex-test" })
      yield* Effect.gen(function* () {
        const { next } = yield* heard(yield* Database, "small")
        assert.strictEqual(yield* next, "")
        yield* notify("small", "still")
        assert.strictEqual(yield* next, "still")
      }).pipe(Effect.provide(one))
    })
  )

  it.effect("goes the direct way when there is one, and nowhere when it is off", () =>
    Effect.gen(function* () {
      const { database, url } = yield* PostgresServer
      const direct = yield* database
      const unreachable = url("there_is_no_such_database")
      const options = { url: unreachable, maxConnections: 1, applicationName: "narthex-test" }
      const first = (listenUrl: Redacted.Redacted<string> | "off", patience: Duration.Input) =>
        Effect.flatMap(Database, ({ listen }) => Stream.runHead(listen("direct"))).pipe(
          Effect.provide(Database.layer({ ...options, listenUrl }), { local: true }),
          Effect.timeoutOption(patience)
        )
      assert.strictEqual((yield* first(direct, "20 seconds"))._tag, "Some")
      assert.strictEqual((yield* first("off", "100 millis"))._tag, "None")
    })
  )
})

/** Notifications: what arrives, and that the subscription outlives its backend and the server. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { assert, layer } from "@effect/vitest"
import { type Duration, Effect, Queue, type Redacted, Stream } from "effect"
import { listening } from "../src/driver/listening.ts"
import { Database, type Notice } from "../src/index.ts"
import { halfOpen } from "./support/halfOpen.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { silent } from "./support/silent.ts"
import { emptyDatabase } from "./support/TestDatabase.ts"

/** What the channel says, one by one, for as long as the test runs: a payload, or what became of the subscription. */
const heard = (notices: Stream.Stream<Notice>) =>
  Effect.gen(function* () {
    const queue = yield* Queue.unbounded<string>()
    const following = Stream.runForEach(notices, (notice) =>
      Queue.offer(queue, notice._tag === "Notified" ? notice.payload : notice._tag)
    )
    yield* Effect.forkScoped(Effect.provide(following, silent))
    return { next: Queue.take(queue) }
  })

const notify = (channel: string, payload: string) =>
  Effect.flatMap(Database, ({ query }) => query("test", "select pg_notify($1, $2)", [channel, payload]))

layer(emptyDatabase, { excludeTestServices: true })("Database.listen", (it) => {
  it.effect("says that it is subscribed, then what is notified, in order", () =>
    Effect.gen(function* () {
      const { next } = yield* heard((yield* Database).listen("news"))
      assert.strictEqual(yield* next, "Subscribed")
      yield* notify("other", "unheard")
      yield* notify("news", "one")
      yield* notify("news", "two")
      assert.deepStrictEqual([yield* next, yield* next], ["one", "two"])
    })
  )

  it.effect("says that its backend is lost, and subscribes again", () =>
    Effect.gen(function* () {
      const { admin } = yield* PostgresServer
      const { next } = yield* heard((yield* Database).listen("lossy"))
      assert.strictEqual(yield* next, "Subscribed")
      for (const payload of ["once", "twice"]) {
        yield* admin("select pg_terminate_backend(pid) from pg_stat_activity where query = 'LISTEN \"lossy\"'")
        assert.strictEqual(yield* next, "Lost")
        assert.strictEqual(yield* next, "Subscribed")
        yield* notify("lossy", payload)
        assert.strictEqual(yield* next, payload)
      }
    })
  )

  it.effect("subscribes again when the server is back", () =>
    Effect.gen(function* () {
      const { control } = yield* PostgresServer
      if (control === undefined) return
      const { next } = yield* heard((yield* Database).listen("crash"))
      assert.strictEqual(yield* next, "Subscribed")
      yield* control.crash
      assert.strictEqual(yield* next, "Lost")
      assert.strictEqual(yield* next, "Subscribed")
    })
  )

  it.effect("counts a server that does not answer as lost, and subscribes again when it does", () =>
    Effect.gen(function* () {
      const { database } = yield* PostgresServer
      const url = yield* database
      const way = yield* halfOpen(url)
      const pulse = { every: "50 millis", patience: "300 millis" } as const
      const { next } = yield* heard(listening(PgConnection.make({ url: way.url }), "quiet", pulse))
      assert.strictEqual(yield* next, "Subscribed")
      for (let round = 0; round < 2; round++) {
        yield* way.silence(true)
        const begun = performance.now()
        assert.strictEqual(yield* next, "Lost")
        // Told at once, not when everything that waits for the server has given up.
        assert.isBelow(performance.now() - begun, 3_000)
        yield* way.silence(false)
        assert.strictEqual(yield* next, "Subscribed")
      }
    })
  )

  it.effect("holds no connection of the pool", () =>
    Effect.gen(function* () {
      const { database } = yield* PostgresServer
      const one = Database.layer({ url: yield* database, maxConnections: 1, applicationName: "narthex-test" })
      yield* Effect.gen(function* () {
        const { next } = yield* heard((yield* Database).listen("small"))
        assert.strictEqual(yield* next, "Subscribed")
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

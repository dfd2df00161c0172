/** Notifications: what arrives, and that the subscription outlives its backend and the server. */
import { connect, type Socket } from "node:net"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { assert, layer } from "@effect/vitest"
import { type Duration, Effect, Queue, type Redacted, Stream } from "effect"
import { listening } from "../src/driver/listening.ts"
import { Database, type Notice } from "../src/index.ts"
import { halfOpen } from "./support/halfOpen.ts"
import { PostgresControl, PostgresServer } from "./support/PostgresServer.ts"
import { silent } from "./support/silent.ts"
import { soon } from "./support/soon.ts"
import { emptyOwnDatabase } from "./support/TestDatabase.ts"

/** What the channel says, one by one, for as long as the test runs: a payload, or what became of the subscription. */
const heard = (notices: Stream.Stream<Notice>, hearing: (said: string) => void = () => {}) =>
  Effect.gen(function* () {
    const queue = yield* Queue.unbounded<string>()
    const following = Stream.runForEach(notices, (notice) => {
      const said = notice._tag === "Notified" ? notice.payload : notice._tag
      hearing(said)
      return Queue.offer(queue, said)
    })
    yield* Effect.forkScoped(Effect.provide(following, silent))
    return { next: soon("what the channel says next", Queue.take(queue)) }
  })

const notify = (channel: string, payload: string) =>
  Effect.flatMap(Database, ({ query }) => query("test", "select pg_notify($1, $2)", [channel, payload]))

layer(emptyOwnDatabase, { excludeTestServices: true })("Database.listen", (it) => {
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
      const { crash } = yield* PostgresControl
      const { next } = yield* heard((yield* Database).listen("crash"))
      assert.strictEqual(yield* next, "Subscribed")
      yield* crash
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
      /** The connection's own end: closing it takes seconds when nothing is answered. */
      let latest: Socket | undefined
      let subscribed: Socket | undefined
      const stream = () => {
        latest = connect(way.port, "127.0.0.1")
        return latest
      }
      const openAtLoss: Array<boolean> = []
      const { next } = yield* heard(listening(PgConnection.make({ url: way.url, stream }), "quiet", pulse), (said) => {
        if (said === "Subscribed") subscribed = latest
        if (said === "Lost") openAtLoss.push(subscribed?.destroyed === false)
      })
      assert.strictEqual(yield* next, "Subscribed")
      for (let round = 0; round < 2; round++) {
        yield* way.silence(true)
        assert.strictEqual(yield* next, "Lost")
        assert.isTrue(openAtLoss[round], "told before the connection is closed")
        yield* way.silence(false)
        // The first connection is given up in its own time, the second ends by itself.
        if (round > 0) yield* way.cut
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

/** LISTEN: the order of notices, and a subscription that survives the loss of its backend and of the server. */
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

/** The notices of the channel, one by one, while the test runs: a payload, or the tag of another notice. */
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
  it.effect("listening emits the subscription first, then the notifications in order", () =>
    Effect.gen(function* () {
      const { next } = yield* heard((yield* Database).listen("news"))
      assert.strictEqual(yield* next, "Subscribed")
      yield* notify("other", "unheard")
      yield* notify("news", "one")
      yield* notify("news", "two")
      assert.deepStrictEqual([yield* next, yield* next], ["one", "two"])
    })
  )

  it.effect("listening reports a lost backend and subscribes again", () =>
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

  it.effect("listening subscribes again after a restart of the server", () =>
    Effect.gen(function* () {
      const { crash } = yield* PostgresControl
      const { next } = yield* heard((yield* Database).listen("crash"))
      assert.strictEqual(yield* next, "Subscribed")
      yield* crash
      assert.strictEqual(yield* next, "Lost")
      assert.strictEqual(yield* next, "Subscribed")
    })
  )

  it.effect("a server that does not answer counts as lost, and listening subscribes again when it does", () =>
    Effect.gen(function* () {
      const { database } = yield* PostgresServer
      const url = yield* database
      const way = yield* halfOpen(url)
      const keepAlive = { interval: "50 millis", timeout: "300 millis" } as const
      /** The connection's own end: closing it takes seconds when nothing is answered. */
      let latest: Socket | undefined
      let subscribed: Socket | undefined
      const stream = () => {
        latest = connect(way.port, "127.0.0.1")
        return latest
      }
      const openAtLoss: Array<boolean> = []
      const { next } = yield* heard(
        listening(PgConnection.make({ url: way.url, stream }), "quiet", keepAlive),
        (said) => {
          if (said === "Subscribed") subscribed = latest
          if (said === "Lost") openAtLoss.push(subscribed?.destroyed === false)
        }
      )
      assert.strictEqual(yield* next, "Subscribed")
      for (let round = 0; round < 2; round++) {
        yield* way.silence(true)
        assert.strictEqual(yield* next, "Lost")
        assert.isTrue(openAtLoss[round], "reported before the connection is closed")
        yield* way.silence(false)
        // The first connection is given up in its own time, the second ends by itself.
        if (round > 0) yield* way.cut
        assert.strictEqual(yield* next, "Subscribed")
      }
    })
  )

  it.effect("listening holds no connection of the pool", () =>
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

  it.effect("listening uses the direct URL when there is one, and emits nothing when it is off", () =>
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

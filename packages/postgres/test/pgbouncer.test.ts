/**
 * Behind a pooler in transaction mode (docs/operating/serving.md): everything works through it except LISTEN, which
 * uses a direct URL or is off.
 */

import { assert, describe, layer } from "@effect/vitest"
import { defaultEventSettings, EventFeed, EventLog, EventSettings, type NewEvent, Transaction } from "@narthex/core"
import {
  anOrgId,
  apiKeyStoreContract,
  eventLogContract,
  idempotencyStoreContract,
  operationStoreContract,
  runContract
} from "@narthex/core/testing"
import { Deferred, Duration, Effect, Fiber, Layer, Option, Queue, type Redacted, Stream } from "effect"
import * as vitest from "vitest"
import { eventually } from "../../../test/harness/eventually.ts"
import { Database, migrate, type Notice, PostgresStorage } from "../src/index.ts"
import { shows } from "./support/observe.ts"
import { PgBouncer, sessions } from "./support/PgBouncer.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { silent } from "./support/silent.ts"
import { soon } from "./support/soon.ts"

type Url = Redacted.Redacted<string>

const database = (url: Url, listenUrl: Url | "off", maxConnections = 10) =>
  Database.layer({ url, listenUrl, maxConnections, applicationName: "narthex-test" })

const migrated = Layer.effectDiscard(Effect.provide(migrate, silent))

/** The URLs of an empty database: through the pooler, and direct. */
const ways = Effect.gen(function* () {
  const direct = yield* (yield* PostgresServer).database
  return { direct, pooled: (yield* PgBouncer).pooled(direct) }
})

/** An instance on a migrated database behind the pooler. */
const pooledDatabase = Layer.unwrap(Effect.map(ways, ({ direct, pooled }) => database(pooled, direct)))
const onPgBouncer = PostgresStorage.layer.pipe(
  Layer.provideMerge(migrated),
  Layer.provideMerge(pooledDatabase),
  Layer.provideMerge(PgBouncer.layer)
)

const pid = Effect.flatMap(Database, ({ query }) =>
  Effect.map(query<{ readonly pid: number }>("test", "select pg_backend_pid() as pid"), ([row]) => row?.pid)
)

/** Makes the pooler open all its sessions, by opening as many transactions at once. */
const openAll = Effect.gen(function* () {
  const { transaction } = yield* Database
  const all = yield* Deferred.make<void>()
  let arrived = 0
  const one = Effect.gen(function* () {
    yield* pid
    arrived += 1
    if (arrived === sessions) yield* Deferred.succeed(all, undefined)
    yield* Deferred.await(all)
  })
  yield* Effect.forEach(Array.from({ length: sessions }), () => transaction(one), { concurrency: "unbounded" })
})

const event = (org: NewEvent["org_id"]): NewEvent => ({
  org_id: org,
  project_id: null,
  type: "thing.updated.v1",
  source: "things",
  internal: false,
  data: {}
})

/** Another instance commits an event and sequences it. */
const emits = (url: Url) =>
  Effect.gen(function* () {
    const { emit, run } = yield* Transaction
    const log = yield* EventLog
    yield* run(emit(event(anOrgId())))
    yield* eventually(
      "the event to be sequenced",
      Effect.map(log.sequence, (state) => state === "idle")
    )
  }).pipe(Effect.provide(PostgresStorage.layer.pipe(Layer.provide(database(url, "off"))), { local: true }))

describe("behind PgBouncer in transaction mode", { tags: ["pgbouncer"] }, () => {
  layer(onPgBouncer, { excludeTestServices: true })((it) => {
    it.effect("any number of instances migrate at once behind a pooler", () =>
      Effect.gen(function* () {
        const { direct, pooled } = yield* ways
        const start = Effect.provide(migrate, database(pooled, direct, 2), { local: true })
        yield* Effect.forEach(Array.from({ length: 4 }), () => start, { concurrency: "unbounded" })
        const { admin } = yield* PostgresServer
        assert.isNotEmpty(yield* admin("select name from narthex_migration", direct))
      }).pipe(Effect.provide(silent))
    )

    it.effect("statements and transactions work on every session that the pooler assigns", () =>
      Effect.gen(function* () {
        const { direct, pooled } = yield* ways
        yield* Effect.gen(function* () {
          yield* openAll
          const { query, transaction } = yield* Database
          const ask = (n: number) => query<{ readonly n: number }>("test", "select $1::int as n", [n])
          const met = new Set<number | undefined>()
          for (let round = 0; round < 3 * sessions; round++) {
            assert.deepStrictEqual(yield* ask(round), [{ n: round }])
            const inside = transaction(Effect.all([pid, ask(round), pid]))
            const [first, rows, last] = yield* inside
            assert.deepStrictEqual(rows, [{ n: round }])
            assert.strictEqual(first, last, "a transaction stays on its session")
            met.add(first)
          }
          assert.isAbove(met.size, 1, "the transactions used several sessions")
        }).pipe(Effect.provide(database(pooled, direct, sessions), { local: true }))
      })
    )

    it.effect("a transaction behind a pooler is committed whole or not at all", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        yield* query("test", "create table whole (n int primary key)")
        const insert = (n: number) => query("test", "insert into whole values ($1)", [n])
        yield* Effect.flip(transaction(Effect.andThen(insert(1), insert(1))))
        yield* transaction(Effect.andThen(insert(2), insert(3)))
        assert.deepStrictEqual(yield* query("test", "select n from whole order by n"), [{ n: 2 }, { n: 3 }])
      })
    )

    it.effect("an interrupted statement is cancelled on the server behind the pooler", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const running = "state = 'active' and query like '%cancel me%'"
        const fiber = yield* Effect.forkChild(query("test", "select pg_sleep(60), 'cancel me'"))
        yield* eventually("the statement to run", shows(running))
        yield* Fiber.interrupt(fiber)
        assert.isFalse(yield* shows(running))
      })
    )
  })

  layer(PgBouncer.layer, { excludeTestServices: true })((it) => {
    const migratedWays = Effect.tap(ways, ({ direct }) =>
      Effect.provide(migrate, Layer.merge(database(direct, "off"), silent), { local: true })
    )

    it.effect("notifications of commits through the pooler arrive over the direct URL", () =>
      Effect.gen(function* () {
        const { direct, pooled } = yield* migratedWays
        const notices = yield* Queue.unbounded<Notice["_tag"]>()
        const listening = Effect.flatMap(Database, ({ listen }) =>
          Stream.runForEach(listen("narthex"), ({ _tag }) => Queue.offer(notices, _tag))
        )
        yield* Effect.forkScoped(Effect.provide(listening, database(pooled, direct), { local: true }))
        assert.strictEqual(yield* soon("the subscription", Queue.take(notices)), "Subscribed")
        yield* emits(pooled)
        assert.strictEqual(yield* soon("the notification", Queue.take(notices)), "Notified")
      })
    )

    it.effect("an instance without LISTEN reads the commits of others by polling", () =>
      Effect.gen(function* () {
        const { pooled } = yield* migratedWays
        const feed = EventFeed.layer.pipe(
          Layer.provide(PostgresStorage.layer),
          Layer.provide(database(pooled, "off")),
          Layer.provide(Layer.succeed(EventSettings, { ...defaultEventSettings, poll: Duration.millis(20) }))
        )
        yield* Effect.gen(function* () {
          const { events, ready } = yield* EventFeed
          yield* ready
          const learned = yield* Effect.forkChild(Stream.runHead(events))
          // A subscriber receives only events that are committed after it has subscribed; one of several is enough.
          yield* eventually(
            "the instance to learn of an event",
            Effect.map(emits(pooled), () => learned.pollUnsafe() !== undefined)
          )
          assert.isTrue(Option.isSome(yield* Fiber.join(learned)))
        }).pipe(Effect.provide(feed, { local: true }))
      })
    )
  })

  for (const contract of [eventLogContract, operationStoreContract, apiKeyStoreContract, idempotencyStoreContract])
    runContract(vitest, contract, "PgBouncer", onPgBouncer)
})

/** Statements: values in both directions, failures, interruption, and the return of connections. */
import { assert, layer } from "@effect/vitest"
import { StorageError } from "@narthex/core"
import { Deferred, Duration, Effect, Fiber, Layer, Redacted, Ref } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { NotDone, StatementLimit } from "../src/driver/Attempt.ts"
import { Database, jsonb, uniqueViolation } from "../src/index.ts"
import { insert, shows, table } from "./support/observe.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { emptyDatabase } from "./support/TestDatabase.ts"

layer(emptyDatabase, { excludeTestServices: true })("Database.query", (it) => {
  it.effect("each kind of value is the same after a round trip", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const id = "0192f0c1-2d3e-7abc-8def-0123456789ab"
      const [row] = yield* query(
        "test",
        `select $1::uuid as id, $2::timestamptz as at, $3::timestamptz as past, $4::jsonb as data, $5::jsonb as list,
                $6::bigint as big, count(*) as one, array[1::bigint, 2] as bigs, $7::text[] as texts,
                $8::text as nothing, $9 = any($10::int[]) as there, $11::uuid[] as ids`,
        [
          id,
          "2026-03-04T05:06:07.089Z",
          new Date(1000),
          jsonb({ a: [1, null] }),
          jsonb([{ b: 2 }]),
          Number.MAX_SAFE_INTEGER,
          ["x", 'y"z'],
          undefined,
          3,
          [1, 3],
          [id]
        ]
      )
      assert.deepStrictEqual(row, {
        id,
        at: new Date("2026-03-04T05:06:07.089Z"),
        past: new Date(1000),
        data: { a: [1, null] },
        list: [{ b: 2 }],
        big: Number.MAX_SAFE_INTEGER,
        one: 1,
        bigs: [1, 2],
        texts: ["x", 'y"z'],
        nothing: null,
        there: true,
        ids: [id]
      })
    })
  )

  it.effect("a bigint that a number cannot hold fails its statement and no other", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      assert.instanceOf(yield* Effect.flip(query("test", "select 9007199254740992::bigint")), StorageError)
      assert.lengthOf(yield* query("test", "select 1"), 1)
    })
  )

  it.effect("a failed statement names its operation", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const error = yield* Effect.flip(query("Nothing.read", "select * from nowhere"))
      assert.instanceOf(error, StorageError)
      assert.strictEqual(error.operation, "Nothing.read")
      assert.isUndefined(uniqueViolation(error))
    })
  )

  it.effect("a duplicate is reported with the name of its constraint", () =>
    Effect.gen(function* () {
      yield* table("duplicates")
      yield* insert("duplicates", 1)
      assert.strictEqual(uniqueViolation(yield* Effect.flip(insert("duplicates", 1))), "duplicates_n")
    })
  )

  it.effect("an interrupted statement is cancelled on the server", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const running = "state = 'active' and query like '%interrupt me%'"
      const fiber = yield* Effect.forkChild(query("test", "select pg_sleep(60), 'interrupt me'"))
      yield* eventually("the statement to run", shows(running))
      yield* Fiber.interrupt(fiber)
      assert.isFalse(yield* shows(running))
    })
  )

  it.effect("a statement that is over its limit fails, and is cancelled on the server before it does", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const over = Effect.provideService(
        query("Slow.read", "select pg_sleep(60), 'limit me'"),
        StatementLimit,
        Duration.millis(300)
      )
      const error = yield* Effect.flip(over)
      assert.strictEqual(error.operation, "Slow.read")
      assert.instanceOf(error.cause, NotDone)
      assert.isFalse(yield* shows("state = 'active' and query like '%limit me%'"))
    })
  )

  it.effect("a limit that no timer can hold is none", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      for (const limit of [Duration.days(30), Duration.infinity])
        assert.lengthOf(
          yield* Effect.provideService(query("test", "select pg_sleep(0.1)::text"), StatementLimit, limit),
          1
        )
    })
  )

  it.effect("a statement returns its connection however it ends", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      const soon = "5 millis"
      const fates: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        query("test", "select 1"),
        query("test", "select 1/0"),
        Effect.timeoutOption(query("test", "select pg_sleep(60)"), soon),
        transaction(query("test", "select 1/0")),
        transaction(Effect.fail("no")),
        transaction(Effect.die("no")),
        Effect.timeoutOption(transaction(query("test", "select pg_sleep(60)")), soon)
      ]
      const many = Array.from({ length: 12 }, () => fates).flat()
      yield* Effect.forEach(many, Effect.exit, { concurrency: 20 })
      assert.isFalse(yield* shows("state like 'idle in transaction%'"))

      // All ten are there, at the same time.
      const arrived = yield* Ref.make(0)
      const all = yield* Deferred.make<void>()
      const one = Effect.gen(function* () {
        if ((yield* Ref.updateAndGet(arrived, (n) => n + 1)) === 10) yield* Deferred.succeed(all, undefined)
        yield* Deferred.await(all)
      })
      yield* Effect.forEach(Array.from({ length: 10 }), () => transaction(one), { concurrency: 10 })
    })
  )

  it.effect("statements succeed again after every backend was terminated", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const { admin } = yield* PostgresServer
      const fiber = yield* Effect.forkChild(Effect.flip(query("Lost.read", "select pg_sleep(60), 'lost'")))
      yield* eventually("the statement to run", shows("state = 'active' and query like '%''lost''%'"))
      const [here] = yield* query<{ readonly name: string }>("test", "select current_database() as name")
      yield* admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${here?.name}'`)
      assert.strictEqual((yield* Fiber.join(fiber)).operation, "Lost.read")
      // A dead connection may be lent before its end is detected, but each of the ten only once.
      assert.lengthOf(yield* Effect.retry(query("test", "select 1"), { times: 10 }), 1)
    })
  )

  it.effect("a malformed URL is refused without its password in the error", () =>
    Effect.gen(function* () {
      const url = Redacted.make("postgresql://user:hunter2@:port/")
      const broken = Database.layer({ url, maxConnections: 1, applicationName: "narthex-test" })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(broken)))
      assert.instanceOf(error, StorageError)
      assert.notInclude(JSON.stringify([error.message, String(error.cause), error.cause]), "hunter2")
    })
  )
})

/** Reads that share one connection: whom they wait for, and who gets which answer. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Result } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { StatementLimit } from "../src/driver/Attempt.ts"
import { Database } from "../src/index.ts"
import { halfOpen } from "./support/halfOpen.ts"
import { heldLock } from "./support/heldLock.ts"
import { insert, isAwaited, table } from "./support/observe.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { emptyDatabase } from "./support/TestDatabase.ts"

/** The server process that answers a pipelined read. */
const pid = Effect.flatMap(Database, ({ query }) =>
  Effect.map(query<{ readonly pid: number }>("test", "select pg_backend_pid() as pid", [], "keys"), ([row]) =>
    Number(row?.pid)
  )
)

const read = (text: string, pipeline: "keys" | "sessions" = "keys") =>
  Database.use(({ query }) => query<{ readonly n: number }>("test", text, [], pipeline))

/** How many fibers there were until now. */
const fibers = Effect.flatMap(Effect.forkChild(Effect.void), (fiber) => Effect.as(Fiber.join(fiber), fiber.id))

layer(emptyDatabase, { excludeTestServices: true })("Pipelined reads", (it) => {
  it.effect("any number of reads share one connection, and each gets its own answer", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 300 }, (_, n) => n)
      const pids = yield* Effect.forEach(many, () => pid, { concurrency: "unbounded" })
      assert.lengthOf(new Set(pids), 1)
      const answers = yield* Effect.forEach(many, (n) => read(`select ${n} as n`), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers.map(([row]) => row?.n),
        many
      )
    })
  )

  it.effect("a read sees what was committed before it, also on another connection", () =>
    Effect.gen(function* () {
      yield* table("seen")
      for (let n = 0; n < 50; n++) {
        yield* insert("seen", n)
        assert.strictEqual((yield* read("select max(n) as n from seen"))[0]?.n, n)
      }
    })
  )

  it.effect("a read inside a transaction runs on its connection, and sees what is not committed", () =>
    Effect.gen(function* () {
      const { query, transaction } = yield* Database
      yield* table("inner_reads")
      const outside = yield* pid
      yield* transaction(
        Effect.gen(function* () {
          yield* insert("inner_reads", 7)
          assert.strictEqual((yield* read("select n from inner_reads"))[0]?.n, 7)
          const [own] = yield* query<{ readonly pid: number }>("test", "select pg_backend_pid() as pid")
          assert.strictEqual(yield* pid, own?.pid)
          assert.notStrictEqual(own?.pid, outside)
        })
      )
    })
  )

  it.effect("a failed read fails alone", () =>
    Effect.gen(function* () {
      const texts = ["select 1 as n", "select 1 / 0 as n", "select n from nowhere", "select 2 as n"]
      const ends = yield* Effect.forEach(texts, (text) => Effect.result(read(text)), { concurrency: "unbounded" })
      assert.deepStrictEqual(ends.map(Result.isSuccess), [true, false, false, true])
    })
  )

  it.effect("an interrupted read keeps no other read from its answer", () =>
    Effect.gen(function* () {
      const lock = yield* heldLock(4711)
      const waiting = yield* Effect.forkChild(read("select 1 as n from pg_advisory_xact_lock_shared(4711)"))
      yield* eventually("the read to wait", isAwaited(lock.backend))
      const behind = yield* Effect.forkChild(read("select 2 as n"), { startImmediately: true })
      yield* Fiber.interrupt(waiting)
      yield* lock.release
      assert.deepStrictEqual(yield* Fiber.join(behind), [{ n: 2 }])
    })
  )

  it.effect("reads of one pipeline do not wait for reads of another", () =>
    Effect.gen(function* () {
      const lock = yield* heldLock(4713)
      const waiting = yield* Effect.forkChild(read("select 1 as n from pg_advisory_xact_lock_shared(4713)"))
      yield* eventually("the read to wait", isAwaited(lock.backend))
      assert.deepStrictEqual(yield* read("select 2 as n", "sessions"), [{ n: 2 }])
      yield* lock.release
      assert.deepStrictEqual(yield* Fiber.join(waiting), [{ n: 1 }])
    })
  )

  it.effect("reads are answered again after every backend was terminated", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const { admin } = yield* PostgresServer
      const before = yield* pid
      const [here] = yield* query<{ readonly name: string }>("test", "select current_database() as name")
      yield* admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${here?.name}'`)
      const after = yield* Effect.retry(pid, { times: 10 })
      assert.notStrictEqual(after, before)
    })
  )

  it.effect("a connection without answers is given up with the first read that is over its limit", () =>
    Effect.gen(function* () {
      const relay = yield* halfOpen(yield* (yield* PostgresServer).database)
      const through = Database.layer({ url: relay.url, maxConnections: 1, applicationName: "narthex-test" })
      yield* Effect.gen(function* () {
        yield* pid
        yield* relay.silence(true)
        const limit = { limited: Duration.millis(200), patient: Duration.seconds(30) }
        const behind = yield* Deferred.make<void>()
        const patient = yield* Effect.forkChild(
          Effect.andThen(
            Deferred.succeed(behind, undefined),
            Effect.provideService(Effect.result(pid), StatementLimit, limit.patient)
          )
        )
        yield* Deferred.await(behind)
        const over = yield* Effect.flip(Effect.provideService(pid, StatementLimit, limit.limited))
        assert.strictEqual(over._tag, "StorageError")
        yield* relay.silence(false)
        assert.isAbove(yield* pid, 0)
        yield* Fiber.interrupt(patient)
      }).pipe(Effect.provide(through, { local: true }))
    })
  )

  it.effect("each read has a connection of its own where a pooler may be in between", () =>
    Effect.gen(function* () {
      const url = yield* (yield* PostgresServer).database
      const pooled = Database.layer({ url, maxConnections: 3, applicationName: "narthex-test", listenUrl: "off" })
      yield* Effect.gen(function* () {
        const lock = yield* heldLock(4712)
        const waiting = yield* Effect.forkChild(read("select 1 as n from pg_advisory_xact_lock_shared(4712)"))
        yield* eventually("the read to wait", isAwaited(lock.backend))
        assert.deepStrictEqual(yield* read("select 2 as n"), [{ n: 2 }])
        yield* lock.release
        assert.deepStrictEqual(yield* Fiber.join(waiting), [{ n: 1 }])
      }).pipe(Effect.provide(pooled, { local: true }))
    })
  )

  it.effect("a statement takes one fiber, alone and pipelined", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      for (const pipeline of [undefined, "keys"] as const) {
        // The first may open a connection.
        yield* query("test", "select 1", [], pipeline)
        const before = yield* fibers
        for (let n = 0; n < 20; n++) yield* query("test", "select 1", [], pipeline)
        assert.isAtMost((yield* fibers) - before, 20 + 3, String(pipeline))
      }
    })
  )
})

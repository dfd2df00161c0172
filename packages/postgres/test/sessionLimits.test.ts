/**
 * Locks that the platform does not release: of an operator's session on the tables of events, and of a process that
 * stopped inside a transaction. Both end in a bounded failure, and what failed works again once the lock is gone.
 */
import { inspect } from "node:util"
import { assert, describe, layer } from "@effect/vitest"
import { EventLog, type NewEvent, Transaction } from "@narthex/core"
import { anOrgId } from "@narthex/core/testing"
import { Deferred, Effect, Fiber, Layer, type Redacted, Result } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import type { SessionLimits } from "../src/database/SessionLimits.ts"
import { Database, migrate, PostgresStorage } from "../src/index.ts"
import { awaits, ownBackend, shows } from "./support/observe.ts"
import { PgBouncer } from "./support/PgBouncer.ts"
import { PostgresServer } from "./support/PostgresServer.ts"
import { silent } from "./support/silent.ts"

type Url = Redacted.Redacted<string>

const short = {
  lock_timeout: "300 millis",
  statement_timeout: "20 seconds",
  idle_in_transaction_session_timeout: "20 seconds"
} as const

const database = (url: Url, limits: SessionLimits, listenUrl?: Url) =>
  Database.layer({
    url,
    maxConnections: 4,
    applicationName: "narthex-test",
    limits,
    ...(listenUrl === undefined ? {} : { listenUrl })
  })

/** Runs work on a connection of its own, as an operator's psql does. */
const asOperator = <A, E, R>(url: Url, work: Effect.Effect<A, E, R | Database>) =>
  work.pipe(
    Effect.provide(
      Database.layer({
        url,
        maxConnections: 1,
        applicationName: "psql",
        limits: { ...short, lock_timeout: "0 millis" }
      })
    ),
    Effect.scoped
  )

/** Holds a table in exclusive mode until `release`. */
const holding = Effect.fnUntraced(function* (url: Url, table: string) {
  const [held, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const holder = asOperator(
    url,
    Effect.flatMap(Database, ({ query, transaction }) =>
      transaction(
        Effect.gen(function* () {
          yield* query("test", `lock table ${table} in access exclusive mode`)
          yield* Deferred.succeed(held, undefined)
          yield* Deferred.await(release)
        })
      )
    )
  )
  const fiber = yield* Effect.forkChild(holder)
  yield* Deferred.await(held)
  return Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(fiber))
})

const event = (): NewEvent => ({
  org_id: anOrgId(),
  project_id: null,
  type: "thing.updated.v1",
  source: "things",
  internal: false,
  data: {}
})

/**
 * The effect of a locked table of events on a mutation and on the sequencer. Through a pooler a statement outside of a
 * transaction has only the client's limit of 30 seconds, so the sequencer's failure is not waited for there.
 */
const lockedTables = (direct: Url, { pooled }: { readonly pooled: boolean }) =>
  Effect.gen(function* () {
    const { emit, run } = yield* Transaction
    const log = yield* EventLog
    const mutation = run(emit(event()))
    const sequenced = eventually(
      "the events to be sequenced",
      Effect.map(
        Effect.orElseSucceed(log.sequence, () => "failed" as const),
        (state) => state === "idle"
      )
    )
    yield* mutation
    yield* sequenced

    const releaseOutbox = yield* holding(direct, "narthex.event_outbox")
    const refused = yield* Effect.flip(mutation)
    assert.strictEqual(refused._tag, "StorageError")
    if (refused._tag === "StorageError") assert.include(inspect(refused.cause, { depth: 9 }), "lock timeout")
    yield* releaseOutbox
    yield* mutation

    const releaseHead = yield* holding(direct, "narthex.event_head")
    yield* mutation
    // `busy` while the run that the commit has started waits for the lock.
    if (!pooled) yield* eventually("the sequencer to fail", Effect.map(Effect.result(log.sequence), Result.isFailure))
    yield* releaseHead
    yield* sequenced
    const { query } = yield* Database
    assert.lengthOf(yield* query("test", "select 1 from narthex.event_outbox"), 0)
    assert.lengthOf(yield* query("test", "select 1 from narthex.event_log"), 3)
  })

/** Another database; its layers are built in the test. */
const fresh = Effect.flatMap(PostgresServer, (server) => server.database)

const storage = (connected: Layer.Layer<Database, unknown>) =>
  PostgresStorage.layer.pipe(
    Layer.provideMerge(Layer.effectDiscard(Effect.provide(migrate, silent))),
    Layer.provideMerge(connected)
  )

layer(PostgresServer.layer, { excludeTestServices: true, timeout: "60 seconds" })("a store's session", (it) => {
  it.effect("a locked table of events fails mutations and the sequencer, which go on once the lock is gone", () =>
    Effect.gen(function* () {
      const direct = yield* fresh
      yield* Effect.provide(lockedTables(direct, { pooled: false }), storage(database(direct, short)))
    })
  )

  it.effect("the locks of a transaction that stopped are released, and its commit fails", () =>
    Effect.gen(function* () {
      const direct = yield* fresh
      const stopping = Effect.gen(function* () {
        const { query, transaction } = yield* Database
        yield* query("test", "create table thing (id int primary key)")
        const [inserted, resume] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const stopped = yield* Effect.forkChild(
          transaction(
            Effect.gen(function* () {
              yield* query("test", "insert into thing values (1)")
              yield* Deferred.succeed(inserted, undefined)
              yield* Deferred.await(resume)
            })
          )
        )
        yield* Effect.raceFirst(Deferred.await(inserted), Fiber.join(stopped))
        // Waits for the row of the other transaction, which the server ends.
        yield* query("test", "insert into thing values (1)")
        yield* Deferred.succeed(resume, undefined)
        assert.strictEqual((yield* Effect.flip(Fiber.join(stopped)))._tag, "StorageError")
        assert.lengthOf(yield* query("test", "select 1 from thing"), 1)
      })
      const limits = {
        ...short,
        lock_timeout: "20 seconds",
        // The limit also runs between BEGIN and INSERT.
        idle_in_transaction_session_timeout: "3 seconds"
      } as const
      yield* Effect.provide(stopping, database(direct, limits))
    })
  )

  it.effect("a migration waits longer than the lock timeout for another instance's", () =>
    Effect.gen(function* () {
      const direct = yield* fresh
      const waiting = Effect.gen(function* () {
        const { query } = yield* Database
        const [held, release] = [yield* Deferred.make<number>(), yield* Deferred.make<void>()]
        const other = yield* Effect.forkChild(
          asOperator(
            direct,
            Effect.flatMap(Database, (operator) =>
              operator.transaction(
                Effect.gen(function* () {
                  yield* operator.query(
                    "test",
                    "select pg_advisory_xact_lock(hashtextextended('narthex migrates narthex', 0))"
                  )
                  yield* Deferred.succeed(held, yield* ownBackend)
                  yield* Deferred.await(release)
                })
              )
            )
          )
        )
        const holder = yield* Deferred.await(held)
        const migrating = yield* Effect.forkChild(Effect.provide(migrate, silent))
        const late = shows(`${awaits(holder)} and clock_timestamp() - query_start > interval '600 milliseconds'`)
        yield* eventually(
          "the migration to wait for longer than the lock timeout",
          Effect.map(late, (waits) => waits || migrating.pollUnsafe() !== undefined)
        )
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(other)
        yield* Fiber.join(migrating)
        assert.isNotEmpty(yield* query("test", "select 1 from narthex.narthex_migration"))
      })
      yield* Effect.provide(waiting, database(direct, short))
    })
  )
})

describe("behind PgBouncer in transaction mode", { tags: ["pgbouncer"] }, () => {
  layer(PgBouncer.layer.pipe(Layer.provideMerge(PostgresServer.layer)), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })("a pooled session", (it) => {
    it.effect("a locked table of events fails pooled mutations, which go on once the lock is gone", () =>
      Effect.gen(function* () {
        const direct = yield* fresh
        const pooled = (yield* PgBouncer).pooled(direct)
        yield* Effect.provide(lockedTables(direct, { pooled: true }), storage(database(pooled, short, direct)))
      })
    )
  })
})

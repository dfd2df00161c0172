/** Where a host's transaction stands among others, and which transactions are refused (docs/design/events.md E42 to E45). */
import { assert, layer } from "@effect/vitest"
import { StorageError, Transaction } from "@narthex/core"
import { anOrganization } from "@narthex/core/testing"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { event } from "../../../core/testing/events/logFixtures.ts"
import { Database, uniqueViolation } from "../../src/index.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { change, exists, logged, named, refusal, started, storage, within } from "./calls.ts"
import { hosts, inTransaction, open } from "./hosts.ts"

/** Runs `work` while nothing can be sequenced, so that all its events are sequenced in one batch. */
const withoutSequencing = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    const held = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      transaction(
        query("test", "select 1 as one from narthex.event_head for update").pipe(
          Effect.andThen(Deferred.succeed(held, undefined)),
          Effect.andThen(Deferred.await(release))
        )
      )
    )
    yield* Deferred.await(held)
    return yield* Effect.ensuring(work, Effect.andThen(Deferred.succeed(release, undefined), Fiber.await(holder)))
  })

layer(storage, { excludeTestServices: true, timeout: "60 seconds" })("the host's transaction", (it) => {
  it.effect("an event of a host's transaction takes its place at the commit, after what committed before", () =>
    Effect.gen(function* () {
      const { emit, run } = yield* Transaction
      for (const kind of [hosts.nodePostgres, hosts.postgresJs]) {
        const host = yield* started(kind)
        const org = anOrganization()
        const before = inTransaction(host, (tx) =>
          within(tx, change(org, 2)).pipe(
            Effect.andThen(run(emit(event(org.id, null, 1)))),
            Effect.andThen(within(tx, change(org, 3)))
          )
        )
        yield* withoutSequencing(Effect.andThen(before, run(emit(event(org.id, null, 4)))))
        assert.deepStrictEqual(yield* logged(org), [1, 2, 3, 4])
      }
    })
  )

  it.effect("the transaction of another database is refused, also one that has the same tables", () =>
    Effect.gen(function* () {
      const server = yield* PostgresServer
      const org = anOrganization()
      for (const other of [yield* server.database, yield* server.migrated])
        for (const kind of [hosts.nodePostgres, hosts.postgresJs]) {
          const host = yield* open(kind, other)
          const code = yield* inTransaction(host, (tx) => refusal(within(tx, change(org))))
          assert.strictEqual(code, "other_database")
        }
    })
  )

  it.effect("a role without rights on the tables is refused before it changes anything", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const host = yield* started(hosts.nodePostgres)
      const role = `stranger_${(yield* named).slice(-8)}`
      yield* query("test", `create role ${role}`)
      yield* Effect.addFinalizer(() => Effect.ignore(query("test", `drop role ${role}`)))
      const code = yield* inTransaction(host, (tx, own) =>
        Effect.andThen(own(`set local role ${role}`), refusal(within(tx, change(anOrganization()))))
      )
      assert.strictEqual(code, "no_rights")
    })
  )

  it.effect("a transaction in which a statement has failed is refused", () =>
    Effect.gen(function* () {
      const host = yield* started(hosts.nodePostgres)
      const code = yield* Effect.exit(
        inTransaction(host, (tx, own) =>
          Effect.gen(function* () {
            yield* Effect.exit(own("select 1/0"))
            return yield* Effect.flip(within(tx, change(anOrganization())))
          })
        )
      )
      assert.isTrue(Exit.isSuccess(code) && (code.value as { readonly code?: unknown }).code === "failed")
    })
  )

  it.effect("an object that is no handle is refused", () =>
    Effect.gen(function* () {
      for (const other of [{}, { query: () => Promise.resolve({ rows: [] }) }, () => undefined])
        assert.strictEqual(yield* refusal(within(other, change(anOrganization()))), "unknown_handle")
    })
  )

  it.effect("a call that waits for its own commit is refused and undone", () =>
    Effect.gen(function* () {
      const org = anOrganization()
      const { afterCommit } = yield* Transaction
      const host = yield* started(hosts.postgresJs)
      const code = yield* inTransaction(host, (tx) =>
        refusal(within(tx, Effect.andThen(change(org), afterCommit(Effect.void))))
      )
      assert.strictEqual(code, "waits_for_commit")
      assert.isFalse(yield* exists(org))
    })
  )

  it.effect("a violation on a host's connection has the name of its constraint, whichever the driver", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* query("test", "create table single (n int constraint single_n unique)")
      for (const kind of Object.values(hosts)) {
        const host = yield* started(kind)
        const twice = query("test", "insert into single values (1), (1)")
        const error = yield* inTransaction(host, (tx) => Effect.flip(within(tx, twice)))
        assert.strictEqual(error instanceof StorageError ? uniqueViolation(error) : error, "single_n")
      }
    })
  )

  it.effect("a serialization failure or a deadlock is the host's to repeat", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const host = yield* started(hosts.nodePostgres)
      let runs = 0
      const raised = query("test", "do $$ begin raise exception using errcode = '40P01'; end $$")
      const counted = Effect.suspend(() => {
        runs += 1
        return raised
      })
      assert.instanceOf(yield* inTransaction(host, (tx) => refusal(within(tx, counted))), StorageError)
      assert.strictEqual(runs, 1)
    })
  )
})

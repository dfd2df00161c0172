/** Calls of the control plane inside a transaction of each driver of a host (docs/design/events.md E40 to E46). */
import { assert, layer } from "@effect/vitest"
import { AccountStore, type Organization, StorageError, Transaction } from "@narthex/core"
import { anOrganization } from "@narthex/core/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { long } from "../../../../test/harness/long.ts"
import { Database } from "../../src/index.ts"
import { heldLock } from "../support/heldLock.ts"
import { isAwaited } from "../support/observe.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { change, exists, invoices, logged, refusal, started, storage, within } from "./calls.ts"
import { hosts, inTransaction } from "./hosts.ts"

/** The drivers themselves. The other hosts reach the same code through another handle: all of it in the long form. */
const drivers: ReadonlyArray<(typeof hosts)[keyof typeof hosts]> = [hosts.nodePostgres, hosts.postgresJs]

for (const kind of Object.values(hosts)) {
  const whole = long || drivers.includes(kind)
  layer(storage, { excludeTestServices: true, timeout: "60 seconds" })(`in a transaction of ${kind.name}`, (it) => {
    it.effect(`a change in a transaction of ${kind.name} and its events are seen with the host's commit, once`, () =>
      Effect.gen(function* () {
        const host = yield* started(kind)
        const org = anOrganization()
        yield* inTransaction(host, (tx, own) =>
          Effect.gen(function* () {
            yield* own("insert into invoice values (1)")
            yield* within(tx, change(org, 1))
            yield* own("insert into invoice values (2)")
            yield* within(tx, change(org, 2))
            assert.isFalse(yield* exists(org), "nothing is seen before the commit")
            assert.deepStrictEqual(yield* logged(org), [], "nothing is sent before the commit")
          })
        )
        assert.deepStrictEqual(yield* invoices, [1, 2])
        assert.isTrue(yield* exists(org))
        assert.deepStrictEqual(yield* logged(org), [1, 2])
      })
    )

    it.effect(`a rollback of a transaction of ${kind.name} leaves neither changes nor events`, () =>
      Effect.gen(function* () {
        const host = yield* started(kind)
        const org = anOrganization()
        const work = inTransaction(host, (tx, own) =>
          own("insert into invoice values (1)").pipe(
            Effect.andThen(within(tx, change(org))),
            Effect.andThen(Effect.fail("the host's reason"))
          )
        )
        assert.strictEqual(yield* refusal(work), "the host's reason")
        assert.deepStrictEqual(yield* invoices, [])
        assert.isFalse(yield* exists(org))
        assert.deepStrictEqual(yield* logged(org), [])
      })
    )

    it.effect(`a failed call in a transaction of ${kind.name} undoes itself, and the host may commit the rest`, () =>
      Effect.gen(function* () {
        const host = yield* started(kind)
        const { query, transaction } = yield* Database
        const [kept, undone] = [anOrganization(), anOrganization()]
        const failures = [
          Effect.fail("exceeded"),
          query("test", "select 1/0"),
          // A failure inside dooms the call, even when it is caught.
          Effect.ignore(transaction(Effect.fail("inner"))),
          Effect.ignore(query("test", "select 1/0")),
          Effect.die("a defect")
        ]
        const exits = yield* inTransaction(host, (tx, own) =>
          Effect.gen(function* () {
            yield* within(tx, change(kept))
            yield* own("insert into invoice values (1)")
            const each = (failure: Effect.Effect<unknown, unknown>) =>
              Effect.exit(within(tx, Effect.andThen(change(undone, 2), failure)))
            return yield* Effect.forEach(failures, each)
          })
        )
        const squashed = exits.map((exit) => (Exit.isFailure(exit) ? Cause.squash(exit.cause) : "no failure"))
        assert.strictEqual(squashed[0], "exceeded")
        for (const caught of squashed.slice(1, -1)) assert.instanceOf(caught, StorageError)
        assert.strictEqual(squashed.at(-1), "a defect")
        assert.deepStrictEqual(yield* invoices, [1])
        assert.deepStrictEqual([yield* exists(kept), yield* exists(undone)], [true, false])
        assert.deepStrictEqual([yield* logged(kept), yield* logged(undone)], [[1], []])
      })
    )

    if (!whole) return

    if (kind !== hosts.reserved)
      it.effect(`a connection of ${kind.name} that is lost before the host's commit leaves nothing`, () =>
        Effect.gen(function* () {
          const host = yield* started(kind)
          const { admin } = yield* PostgresServer
          const org = anOrganization()
          const work = inTransaction(host, (tx, own) =>
            Effect.gen(function* () {
              const [me] = yield* own("select pg_backend_pid() as pid")
              yield* within(tx, change(org))
              yield* admin(`select pg_terminate_backend(${me?.["pid"]})`)
              if (!kind.survivesLoss) return yield* Effect.never
            })
          )
          assert.isTrue(Exit.isFailure(yield* Effect.exit(work)))
          assert.isFalse(yield* exists(org))
          assert.deepStrictEqual(yield* logged(org), [])
        })
      )

    if (kind.survivesLoss)
      it.effect(`a connection of ${kind.name} that is lost during a call fails the call`, () =>
        Effect.gen(function* () {
          const host = yield* started(kind)
          const { admin } = yield* PostgresServer
          const org = anOrganization()
          const failed = yield* Deferred.make<unknown>()
          const work = inTransaction(host, (tx, own) =>
            Effect.gen(function* () {
              const [me] = yield* own("select pg_backend_pid() as pid")
              const lost = Effect.andThen(admin(`select pg_terminate_backend(${me?.["pid"]})`), change(org, 2))
              yield* Deferred.succeed(failed, yield* refusal(within(tx, Effect.andThen(change(org), lost))))
            })
          )
          yield* Effect.exit(work)
          assert.instanceOf(yield* Deferred.await(failed), StorageError)
          assert.isFalse(yield* exists(org))
        })
      )

    it.effect(
      `a call keeps the settings of a transaction of ${kind.name}, whatever they are, and does not use them`,
      () =>
        Effect.gen(function* () {
          const host = yield* started(kind)
          const org = anOrganization()
          const shown = `select current_setting('search_path') || current_setting('datestyle') || current_setting('timezone')
          || current_setting('lock_timeout') || current_setting('statement_timeout') as all`
          const [before, after] = yield* inTransaction(host, (tx, own) =>
            Effect.gen(function* () {
              for (const setting of [
                "create temporary table event_outbox (n int) on commit drop",
                "set local search_path = pg_catalog",
                "set local datestyle = 'German'",
                "set local timezone = 'Asia/Kolkata'",
                "set local lock_timeout = '5s'",
                "set local bytea_output = 'escape'"
              ])
                yield* own(setting)
              const [before] = yield* own(shown)
              yield* within(tx, change(org))
              const read = yield* within(
                tx,
                Effect.flatMap(AccountStore, (accounts) => accounts.findOrganization(org.id))
              )
              assert.deepStrictEqual(Option.getOrUndefined(read), org)
              const [after] = yield* own(shown)
              return [before, after]
            })
          )
          assert.deepStrictEqual(after, before)
          assert.deepStrictEqual(yield* logged(org), [1])
        })
    )

    it.effect(`a transaction of ${kind.name} that cannot keep the promises is refused and goes on`, () =>
      Effect.gen(function* () {
        const host = yield* started(kind)
        const org = anOrganization()
        assert.strictEqual(yield* refusal(within(host.outside, change(org))), "not_in_transaction")
        for (const isolation of ["repeatable read", "serializable"]) {
          const inside = (tx: object, own: Parameters<Parameters<typeof inTransaction>[1]>[1]) =>
            Effect.tap(refusal(within(tx, change(org))), own("insert into invoice values (1)"))
          assert.strictEqual(yield* inTransaction(host, inside, isolation), "isolation")
        }
        assert.deepStrictEqual(yield* invoices, [1, 1])
        assert.isFalse(yield* exists(org))
      })
    )

    it.effect(
      `a second call at once in a transaction of ${kind.name} is refused; one inside the first is part of it`,
      () =>
        Effect.gen(function* () {
          const host = yield* started(kind)
          const org = anOrganization()
          const codes = yield* inTransaction(host, (tx) =>
            Effect.gen(function* () {
              const entered = yield* Deferred.make<void>()
              const leave = yield* Deferred.make<void>()
              const long = within(tx, Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(leave)))
              const first = yield* Effect.forkChild(long)
              yield* Deferred.await(entered)
              const second = yield* refusal(within(tx, change(org)))
              yield* Deferred.succeed(leave, undefined)
              yield* Fiber.join(first)
              yield* within(tx, within(tx, change(org)))
              const other = within(tx, within({}, change(org)))
              const outer = (yield* Transaction).run(within(tx, change(org)))
              return [second, yield* refusal(other), yield* refusal(outer)]
            })
          )
          assert.deepStrictEqual(codes, ["busy", "nested", "nested"])
          assert.deepStrictEqual(yield* logged(org), [1])
        })
    )

    it.effect(`a transaction of ${kind.name} that ends during a call makes the call fail`, () =>
      Effect.gen(function* () {
        const host = yield* started(kind)
        const org = anOrganization()
        const entered = yield* Deferred.make<void>()
        const ended = yield* Deferred.make<void>()
        const late = yield* inTransaction(host, (tx) =>
          Effect.gen(function* () {
            const long = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(ended))
            const fiber = yield* Effect.forkDetach(refusal(within(tx, long)))
            yield* Deferred.await(entered)
            return fiber
          })
        )
        yield* Deferred.succeed(ended, undefined)
        assert.strictEqual(yield* Fiber.join(late), "ended")
        assert.isFalse(yield* exists(org))
      })
    )

    it.effect(`a call that is interrupted in a transaction of ${kind.name} is undone before the host's commit`, () =>
      Effect.gen(function* () {
        const host = yield* started(kind)
        const org = anOrganization()
        const { backend, lock, release } = yield* heldLock(4711)
        yield* inTransaction(host, (tx, own) =>
          Effect.gen(function* () {
            yield* own("insert into invoice values (1)")
            const fiber = yield* Effect.forkChild(within(tx, Effect.andThen(change(org), lock)))
            yield* eventually("the call to wait for the lock", isAwaited(backend))
            // The host's connection cannot cancel a statement: the call ends when the statement does.
            fiber.interruptUnsafe()
            yield* release
            yield* Fiber.await(fiber)
          })
        )
        assert.deepStrictEqual(yield* invoices, [1])
        assert.isFalse(yield* exists(org))
        assert.deepStrictEqual(yield* logged(org), [])
      })
    )

    it.effect(`many transactions of ${kind.name} at once lose, repeat and reorder no event`, () =>
      Effect.gen(function* () {
        const host = yield* started(kind)
        const orgs = Array.from({ length: 12 }, () => anOrganization())
        const each = (org: Organization, index: number) =>
          inTransaction(host, (tx, own) =>
            Effect.gen(function* () {
              yield* within(tx, change(org, 1))
              yield* own("insert into invoice values (1)")
              yield* within(tx, change(org, 2))
              if (index % 3 === 0) return yield* Effect.fail("rolled back")
            })
          )
        yield* Effect.forEach(
          orgs.map((org, index) => Effect.exit(each(org, index))),
          (it) => it,
          { concurrency: 8 }
        )
        for (const [index, org] of orgs.entries())
          assert.deepStrictEqual(yield* logged(org), index % 3 === 0 ? [] : [1, 2])
        assert.lengthOf(yield* invoices, 8)
      })
    )
  })
}

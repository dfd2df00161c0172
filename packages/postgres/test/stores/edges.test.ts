/** The stores on Postgres at the limits of ranges and under locks. */
import { assert, layer } from "@effect/vitest"
import { EventLog, IpAllowlistStore, IpRule, OperationStore, parseCidr } from "@narthex/core"
import { aBranchId, aClaim, anOperation, aProjectId, at, aUser } from "@narthex/core/testing"
import { DateTime, Deferred, Effect, Fiber, Option, Result } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { commit, event, farAhead, fresh, longAgo, settle } from "../../../core/testing/events/logFixtures.ts"
import { Database } from "../../src/index.ts"
import { onPostgres } from "./onPostgres.ts"

layer(onPostgres, { excludeTestServices: true, timeout: "60 seconds" })("The event log on Postgres", (it) => {
  it.effect("each trimming raises the floor, and the history from the floor on is complete", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { org, project } = yield* fresh
      const floor = Effect.map(log.window(org, 10), (window) => Option.getOrUndefined(window.floor))
      for (const round of [1, 2]) {
        yield* commit(...Array.from({ length: 4 }, (_, n) => event(org, project, round * 10 + n)))
        yield* settle
        const { events } = yield* log.window(org, 100)
        yield* log.trim(farAhead, 2)
        const [trimmed, before] = [events.at(-3)?.id ?? "", events.at(-4)?.id ?? ""]
        assert.strictEqual(yield* floor, trimmed)
        assert.isTrue((yield* log.history(org, project, trimmed, 10)).complete)
        assert.isFalse((yield* log.history(org, project, before, 10)).complete)
      }
      assert.strictEqual(yield* log.trim(longAgo, 0), 0)
    })
  )
})

layer(onPostgres, { excludeTestServices: true, timeout: "60 seconds" })("An allowlist on Postgres", (it) => {
  it.effect("removing a rule of an allowlist keeps the others", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      const cidrs = ["10.0.0.0/8", "192.0.2.0/24", "203.0.113.0/24"].map((text) => Result.getOrThrow(parseCidr(text)))
      for (const cidr of cidrs)
        yield* store.put(
          project,
          new IpRule({
            cidr,
            label: "",
            created_at: DateTime.makeUnsafe(0),
            created_by: aUser().ref,
            expires_at: Option.none()
          })
        )
      assert.isTrue(yield* store.remove(project, cidrs[1] ?? Result.getOrThrow(parseCidr("10.0.0.0/8"))))
      assert.deepStrictEqual(
        (yield* store.all(project)).map(({ cidr }) => cidr),
        [cidrs[0], cidrs[2]]
      )
    })
  )
})

layer(onPostgres, { excludeTestServices: true, timeout: "60 seconds" })("An operation on Postgres", (it) => {
  it.effect("an operation is claimed by one of two workers, even while the other's claim is uncommitted", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const store = yield* OperationStore
      const claimed = yield* Deferred.make<boolean>()
      const looked = yield* Deferred.make<void>()
      const claimBy = (worker: string) =>
        Effect.map(store.claim({ ...aClaim("branches"), worker, now: at(100), lease_until: at(200) }), Option.isSome)
      yield* store.insert(anOperation(aProjectId(), null))
      const first = yield* Effect.forkChild(
        database.transaction(
          Effect.flatMap(claimBy("first"), (it) =>
            Effect.andThen(Deferred.succeed(claimed, it), Effect.as(Deferred.await(looked), it))
          )
        )
      )
      assert.isTrue(yield* Deferred.await(claimed))
      const second = yield* Effect.forkChild(claimBy("second"))
      const waiting = `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      const blocked = Effect.map(database.query<{ readonly n: number }>("test.waiting", waiting, []), ([row]) => row?.n)
      yield* eventually(
        "the second claim to finish, or to wait for the first",
        Effect.map(blocked, (n) => n !== 0 || second.pollUnsafe() !== undefined)
      )
      yield* Deferred.succeed(looked, undefined)
      assert.deepStrictEqual([yield* Fiber.join(first), yield* Fiber.join(second)], [true, false])
    })
  )

  it.effect(
    "an operation is inserted after earlier ones of its branch are committed, and waits for no other branch",
    () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const store = yield* OperationStore
        const inserted = yield* Deferred.make<void>()
        const looked = yield* Deferred.make<void>()
        const project = aProjectId()
        const [branch, other] = [aBranchId(), aBranchId()]
        const first = yield* Effect.forkChild(
          transaction(
            Effect.gen(function* () {
              yield* store.insert(anOperation(project, branch))
              yield* Deferred.succeed(inserted, undefined)
              yield* Deferred.await(looked)
            })
          )
        )
        yield* Deferred.await(inserted)
        yield* store.insert(anOperation(project, other))
        const second = yield* Effect.forkChild(store.insert(anOperation(project, branch)))
        const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        yield* eventually(
          "the second insertion to finish, or to wait for the first",
          Effect.map(query("test.waiting", waiting), (rows) => rows.length > 0 || second.pollUnsafe() !== undefined)
        )
        assert.isUndefined(second.pollUnsafe(), "it waits")
        yield* Deferred.succeed(looked, undefined)
        yield* Fiber.join(first)
        yield* Fiber.join(second)
      })
  )
})

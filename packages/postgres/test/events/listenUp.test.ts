/** The gauge `narthex_events_listen_up`: 1 while notifications arrive, 0 from the loss of the subscription until it is back. */
import { assert, describe, layer } from "@effect/vitest"
import { EventLog, eventMetrics } from "@narthex/core"
import { Context, Effect, Layer, Metric, Stream } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Database, PostgresEventLog } from "../../src/index.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { silent } from "../support/silent.ts"
import { testDatabase } from "../support/TestDatabase.ts"

const followed = Layer.effectDiscard(
  Effect.flatMap(EventLog, ({ wakeups }) => Effect.forkScoped(Effect.provide(Stream.runDrain(wakeups), silent)))
)

const subscriptions = "from pg_stat_activity where datname = current_database() and query like 'LISTEN %'"

const is = (up: 0 | 1) => Effect.map(Metric.value(eventMetrics.listenUp), ({ value }) => value === up)

const shows = (up: 0 | 1) => eventually(`the gauge to show ${up}`, is(up))

const watched = followed.pipe(Layer.provideMerge(PostgresEventLog.layer))

/** The number of samples that the platform has taken. */
class Looks extends Context.Service<Looks, { done: number }>()("@narthex/postgres/test/Looks") {}

const counted = Layer.effect(
  Database,
  Effect.gen(function* () {
    const database = yield* Database
    const looks = yield* Looks
    const count = Effect.sync(() => {
      looks.done += 1
    })
    return Database.of({
      ...database,
      query: (operation, text, params) => {
        const asked = database.query<never>(operation, text, params)
        return operation === "EventLog.health" ? Effect.tap(asked, count) : asked
      }
    })
  })
).pipe(Layer.provideMerge(Layer.succeed(Looks, { done: 0 })), Layer.provideMerge(testDatabase))

describe("narthex_events_listen_up", () => {
  layer(Layer.provideMerge(watched, testDatabase), { excludeTestServices: true })((it) => {
    it.effect(
      "narthex_events_listen_up falls when the subscription is lost without traffic, and rises with its return",
      () =>
        Effect.gen(function* () {
          const { admin } = yield* PostgresServer
          const { query } = yield* Database
          const [here] = yield* query<{ readonly name: string }>("test", "select current_database() as name")
          const admit = (open: boolean) => admin(`alter database ${here?.name} allow_connections ${open}`)
          yield* shows(1)
          for (let round = 0; round < 3; round++) {
            // No connection is admitted, so the subscription cannot return before the test has read the gauge.
            yield* admit(false)
            yield* query("test", `select pg_terminate_backend(pid) ${subscriptions} and pid <> pg_backend_pid()`)
            yield* shows(0)
            yield* admit(true)
            yield* shows(1)
          }
        })
    )
  })

  // On the test's clock: the platform takes a sample when the test advances it by five seconds.
  layer(Layer.provideMerge(watched, counted))((it) => {
    it.effect(
      "narthex_events_listen_up falls while a subscription delivers nothing, and rises with the next notification",
      () =>
        Effect.gen(function* () {
          const { query } = yield* Database
          const looks = yield* Looks
          const look = Effect.gen(function* () {
            const before = looks.done
            yield* TestClock.adjust("5 seconds")
            yield* eventually(
              "the platform to take a sample",
              Effect.sync(() => looks.done > before)
            )
          })
          yield* shows(1)
          yield* eventually(
            "the first sample",
            Effect.sync(() => looks.done > 0)
          )
          yield* look
          yield* query("test", "update narthex.event_head set pos = pos + 1")
          yield* look
          assert.isTrue(yield* is(1), "the notification may still be on the way")
          yield* look
          yield* shows(0)
          yield* query("test", "select pg_notify('narthex', pos::text) from narthex.event_head")
          yield* shows(1)
          assert.isNotEmpty(yield* query("test", `select 1 ${subscriptions} and pid <> pg_backend_pid()`))
        })
    )
  })
})

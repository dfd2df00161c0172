/** The gauge `events_listen_up`: 1 while notifications arrive, 0 from the loss of the subscription until it is back. */
import { EventLog, eventMetrics } from "@narthex/core"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Metric, Stream } from "effect"
import { Database, PostgresEventLog } from "../../src/index.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { until } from "../support/observe.ts"
import { silent } from "../support/silent.ts"
import { testDatabase } from "../support/TestDatabase.ts"

const followed = Layer.effectDiscard(
  Effect.flatMap(EventLog, ({ wakeups }) => Effect.forkScoped(Effect.provide(Stream.runDrain(wakeups), silent)))
)

const listening = "application_name = 'narthex-test' and query like 'LISTEN %'"

const shows = (up: 0 | 1) =>
  until(Effect.map(Metric.value(eventMetrics.listenUp), ({ value }) => value === up)).pipe(
    Effect.timeoutOrElse({ duration: "20 seconds", orElse: () => Effect.die(new Error(`It never was ${up}.`)) })
  )

layer(followed.pipe(Layer.provideMerge(PostgresEventLog.layer), Layer.provideMerge(testDatabase)), {
  excludeTestServices: true
})("events_listen_up", (it) => {
  it.effect("falls when the subscription is lost, though nothing happens, and comes back with it", () =>
    Effect.gen(function* () {
      const { admin } = yield* PostgresServer
      const { query } = yield* Database
      const [row] = yield* query<{ readonly name: string }>("test", "select current_database() as name")
      const admit = (open: boolean) => admin(`alter database ${row?.name} allow_connections ${open}`)
      const lose = admin(`select pg_terminate_backend(pid) from pg_stat_activity where ${listening}`)
      yield* shows(1)
      for (let round = 0; round < 3; round++) {
        // Nobody gets in: it can not be back before we have looked.
        yield* admit(false)
        yield* lose
        yield* shows(0)
        yield* admit(true)
        yield* shows(1)
      }
    })
  )

  it.effect("falls while notifications do not come though subscribed, and rises with the next one", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* shows(1)
      const untold = Effect.delay(query("test", "update event_head set pos = pos + 1"), 100)
      yield* Effect.raceFirst(shows(0), Effect.forever(untold))
      yield* query("test", "select pg_notify('events', pos::text) from event_head")
      yield* shows(1)
      assert.isNotEmpty(yield* query("test", `select 1 from pg_stat_activity where ${listening}`))
    })
  )
})

/** Hints of this instance's own are for the time in which no notification arrives: else each commit is read twice. */
import { assert, layer } from "@effect/vitest"
import { EventLog, eventMetrics } from "@narthex/core"
import { Context, Effect, Layer, Metric, Stream } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Database, PostgresEventLog } from "../../src/index.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { silent } from "../support/silent.ts"
import { testDatabase } from "../support/TestDatabase.ts"

/** The number of hints that the readers of the log have had. */
class Hints extends Context.Service<Hints, { count: number }>()("@narthex/postgres/test/Hints") {}

const counted = Layer.effectDiscard(
  Effect.gen(function* () {
    const { wakeups } = yield* EventLog
    const hints = yield* Hints
    const count = Effect.sync(() => {
      hints.count += 1
    })
    yield* Effect.forkScoped(
      Effect.provide(
        Stream.runForEach(wakeups, () => count),
        silent
      )
    )
  })
).pipe(Layer.provideMerge(Layer.succeed(Hints, { count: 0 })), Layer.provideMerge(PostgresEventLog.layer))

const listening = (up: 0 | 1) =>
  eventually(
    `the subscription to be ${up === 1 ? "up" : "down"}`,
    Effect.map(Metric.value(eventMetrics.listenUp), ({ value }) => value === up)
  )

/** How many hints follow, until there is at least one. */
const hintsAfter = <E, R>(work: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const hints = yield* Hints
    const before = hints.count
    yield* work
    yield* eventually(
      "a hint",
      Effect.sync(() => hints.count > before)
    )
    return hints.count - before
  })

layer(Layer.provideMerge(counted, testDatabase), { excludeTestServices: true })("A hint of this instance", (it) => {
  it.effect("is given until a notification has arrived, and again once the subscription is lost", () =>
    Effect.gen(function* () {
      const { wake } = yield* EventLog
      const { query } = yield* Database
      const { admin } = yield* PostgresServer
      const notify = query("test", "select pg_notify('narthex', '1')")
      yield* listening(1)
      assert.strictEqual(yield* hintsAfter(wake), 1)
      assert.strictEqual(yield* hintsAfter(notify), 1)
      const { count } = yield* Hints
      yield* wake
      yield* query("test", "select 'longer than a hint of this process would take'")
      assert.strictEqual((yield* Hints).count, count)
      const [here] = yield* query<{ readonly name: string }>("test", "select current_database() as name")
      const admit = (open: boolean) => admin(`alter database ${here?.name} allow_connections ${open}`)
      yield* admit(false)
      yield* query(
        "test",
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query like 'LISTEN %' and pid <> pg_backend_pid()`
      )
      yield* listening(0)
      assert.strictEqual(yield* hintsAfter(wake), 1)
      yield* admit(true)
      yield* listening(1)
    })
  )
})

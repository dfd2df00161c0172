/** Two runner processes on one store, which a test can hold in the middle of their steps and kill. */
import { layerMemoryComputes } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { PostgresServer } from "../../../packages/postgres/test/support/PostgresServer.ts"
import { eventually } from "../../harness/eventually.ts"
import { RunnerProcess } from "./RunnerProcess.ts"
import { stepLock } from "./stepLock.ts"
import { worldAt } from "./world.ts"

/** So long that no lease expires on a stalled machine; only `kill` ends one early. */
const lease_ms = Duration.toMillis("5 minutes")

const recordTable = `create table work (
  n bigint generated always as identity primary key, step text not null, pid integer not null,
  begun_at timestamptz not null, ended_at timestamptz)`

interface Both {
  readonly runners: readonly [RunnerProcess, RunnerProcess]
  /** One connection for the locks that the test holds. Work that the test forks uses connections of the store. */
  readonly holder: Database["Service"]
}

export class Runners extends Context.Service<Runners, Both>()("test/races/Runners") {
  /** With the store that they work on. */
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const url = yield* (yield* PostgresServer).migrated
      const both = Effect.gen(function* () {
        const { query } = yield* Database
        yield* query("test", recordTable)
        const make = (name: string) => new RunnerProcess({ url: Redacted.value(url), lease_ms, name })
        const runners = [make("narthex-runner-1"), make("narthex-runner-2")] as const
        yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(runners.map((it) => it.kill()))))
        yield* Effect.promise(() => Promise.all(runners.map((it) => it.start())))
        const connection = yield* Layer.build(Database.layer({ url, maxConnections: 1, applicationName: "holder" }))
        return { runners, holder: Context.get(connection, Database) }
      })
      return Layer.provideMerge(Layer.effect(Runners, both), worldAt(url, layerMemoryComputes))
    })
  ).pipe(Layer.provide(PostgresServer.layer))
}

/**
 * Runs `work` in a transaction of the holder, during which no step of a compute can end. `letEnd` lets them end before
 * the transaction does.
 *
 * Pitfall: work that waits for operations. The operations can end only after it, so fork it.
 */
export const whileStepsLast = <A, E, R>(work: (letEnd: Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { query, transaction } = (yield* Runners).holder
    const letEnd = Effect.orDie(Effect.asVoid(query("test", `select pg_advisory_unlock(${stepLock})::text`)))
    const held = Effect.ensuring(
      Effect.suspend(() => work(letEnd)),
      letEnd
    )
    return yield* transaction(Effect.andThen(query("test", `select pg_advisory_lock(${stepLock})::text`), held))
  })

/** Completes when the runner is in the middle of a step. */
export const inStep = (runner: RunnerProcess) =>
  Effect.flatMap(Database, ({ query }) =>
    eventually(
      `${runner.name} to be in a step`,
      Effect.map(
        query("test", "select 1 from work where pid = $1 and ended_at is null limit 1", [runner.pid]),
        (rows) => rows.length > 0
      )
    )
  )

/** Completes when the runner waits for the holder in the last statement before a COMMIT: its row in the log. */
export const atCommit = (runner: RunnerProcess) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const { holder } = yield* Runners
    const [held] = yield* holder.query<{ readonly pid: number }>("test", "select pg_backend_pid() as pid")
    // Pitfall: asking through the holder. Within a transaction pg_stat_activity shows what it showed first.
    const waiting = query(
      "test",
      `select 1 from pg_stat_activity
       where application_name = $1 and query ilike '%insert into narthex.event_outbox%' and $2 = any (pg_blocking_pids(pid))`,
      [runner.name, held?.pid ?? 0]
    )
    yield* eventually(
      `${runner.name} to be about to commit`,
      Effect.map(waiting, (rows) => rows.length > 0)
    )
  })

/**
 * SIGKILL, as if the machine were lost: its connections end, and its leases expire. Only the killed runner's leases are
 * ended early, because these tests are not about the time until the other runner notices.
 */
export const lose = (runner: RunnerProcess) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const { name, worker } = runner
    yield* Effect.promise(() => runner.kill())
    yield* eventually(
      `the connections of ${name} to be gone`,
      Effect.map(
        query("test", "select pg_terminate_backend(pid)::text from pg_stat_activity where application_name = $1", [
          name
        ]),
        (rows) => rows.length === 0
      )
    )
    yield* query(
      "test",
      "update narthex.operation set lease_until = lease_until - interval '1 day' where lease_owner = $1",
      [worker]
    )
  })

/**
 * The log under everything that can die: writers, sequencers and tailers are killed with -9 and the server is stopped
 * without a checkpoint, again and again, while commits overlap (events.md, The outbox on Postgres).
 *
 * The judge is the data itself: every change of a row is one event with the version that came out, under the row's
 * lock. So each operation must show its versions 1, 2, 3 … in this order, up to what the row says in the end.
 *
 * `NARTHEX_TEST_LONG=1`, or `NARTHEX_TEST_CHAOS_SECONDS`, runs it longer.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Random, Redacted } from "effect"
import { migrate } from "../../src/index.ts"
import { Database } from "../../src/Database.ts"
import { PostgresServer } from "../support/PostgresServer.ts"
import { silent } from "../support/silent.ts"
import { ChaosProcess } from "./ChaosProcess.ts"
import { operations, type Seen } from "./chaosModel.ts"

const long = process.env["NARTHEX_TEST_LONG"] === "1"
const seconds = Number(process.env["NARTHEX_TEST_CHAOS_SECONDS"] ?? (long ? 600 : 14))
const crashEvery = 5_000

/** What must have happened before anything is proved. On a busy machine that takes longer than it is meant to. */
const wanted = { events: 50 * seconds, kills: seconds / 2, crashes: seconds / 10 }
const patience = 6 * seconds
/** Between two losses there are this many events, or a pause. */
const progress = 20
const rest = "3 seconds"

const roles = ["writer", "writer", "sequencer", "sequencer", "tailer", "tailer"]

/** Tries again while the server is away. */
const untilTrue = <E, R>(ask: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(
    Effect.orElseSucceed(Effect.delay(ask, 20), () => false),
    { until: (it) => it }
  ).pipe(Effect.timeout("60 seconds"))

const versionsOf = (events: ReadonlyArray<Seen>) => {
  const versions = Array.from({ length: operations }, (): Array<number> => [])
  for (const [, , op, version] of events) versions[op]?.push(version)
  return versions
}

const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

layer(PostgresServer.layer, { excludeTestServices: true })("the log under kill -9 and crashes", (it) => {
  it.effect(
    "has every committed event once, in causal order, with rising ids, the same for every reader",
    () =>
      Effect.gen(function* () {
        const server = yield* PostgresServer
        const url = yield* server.database
        const database = Database.layer({ url, maxConnections: 2, applicationName: "narthex-test" })
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          yield* Effect.provide(migrate, silent)
          yield* query("test", "create table chaos (op int primary key, version int not null) with (fillfactor = 10)")
          yield* query("test", `insert into chaos select op, 0 from generate_series(0, ${operations - 1}) op`)

          const processes = yield* Effect.acquireRelease(
            Effect.sync(() => roles.map((role) => new ChaosProcess(role, Redacted.value(url)))),
            (all) => Effect.promise(() => Promise.all(all.map((process) => process.stop())))
          )
          const [tailer, twin] = processes.filter((process) => process.role === "tailer")
          if (tailer === undefined || twin === undefined) return assert.fail("There are two tailers.")
          yield* untilTrue(Effect.sync(() => tailer.seen.length > 0 && twin.seen.length > 0))

          let crashes = 0
          const killed = () => processes.reduce((sum, process) => sum + process.kills, 0)
          const begun = performance.now()
          const goesOn = () => {
            const lived = (performance.now() - begun) / 1_000
            const enough =
              tailer.seen.length >= wanted.events &&
              killed() >= wanted.kills &&
              processes.every(({ kills }) => kills > 0) &&
              (server.control === undefined || crashes >= wanted.crashes)
            return lived < seconds || (!enough && lived < patience)
          }
          for (let crashAt = begun + crashEvery; goesOn(); ) {
            // On a busy machine most of the time would go into starting what is killed before it works.
            const before = tailer.seen.length
            yield* Effect.sleep(yield* Random.nextIntBetween(100, 900))
            yield* Effect.timeoutOption(untilTrue(Effect.sync(() => tailer.seen.length >= before + progress)), rest)
            const working = processes.filter((process) => process.up)
            const victim = working[yield* Random.nextIntBetween(0, Math.max(0, working.length - 1))]
            yield* Effect.promise(async () => victim?.again())
            if (performance.now() < crashAt || server.control === undefined) continue
            yield* server.control.crash
            crashes += 1
            crashAt = performance.now() + crashEvery
          }

          for (const process of processes) if (process.role === "writer") yield* Effect.promise(() => process.stop())
          const one = <Row extends object>(text: string) => Effect.map(query<Row>("test", text), ([row]) => row)
          yield* untilTrue(
            Effect.map(
              one(
                "select 1 from event_outbox union all select 1 from pg_stat_activity where application_name = 'narthex-chaos' and xact_start is not null and backend_xid is not null"
              ),
              (row) => row === undefined
            )
          )
          const log = (yield* query<{ pos: number; id: string; data: { op: number; version: number } }>(
            "test",
            "select pos, id, data from event_log order by pos"
          )).map(({ data, id, pos }) => ({ pos, id, op: data.op, version: data.version }))
          yield* untilTrue(Effect.sync(() => tailer.seen.length >= log.length && twin.seen.length >= log.length))
          const rows = yield* query<{ version: number }>("test", "select version from chaos order by op")
          const kills = killed()
          const took = Math.round((performance.now() - begun) / 1_000)
          console.log(JSON.stringify({ events: log.length, kills, crashes, took }))

          assert.deepStrictEqual(
            processes.flatMap((process) => process.failed ?? []),
            [],
            "no process died by itself"
          )
          assert.deepStrictEqual(
            versionsOf(tailer.seen),
            rows.map(({ version }) => oneTo(version)),
            "every committed version once, in order"
          )
          assert.deepStrictEqual(
            log.map(({ pos }) => pos),
            oneTo(log.length),
            "positions have no holes"
          )
          const ids = log.map(({ id }) => id)
          assert.deepStrictEqual(ids, [...new Set(ids)].sort(), "ids rise strictly")
          assert.deepStrictEqual(
            tailer.seen.map(([pos, , op, version]) => ({ pos, op, version })),
            log.map(({ op, pos, version }) => ({ pos, op, version })),
            "the tailer read the log"
          )
          assert.deepStrictEqual(tailer.seen, twin.seen, "both tailers read the same")
          assert.isAtLeast(log.length, wanted.events, "there was load")
          assert.isAtLeast(kills, wanted.kills, "processes were killed")
          assert.deepStrictEqual(
            roles.filter((_, at) => processes[at]?.kills === 0),
            [],
            "each of them"
          )
          if (server.control !== undefined) assert.isAtLeast(crashes, wanted.crashes, "the server crashed")
        }).pipe(Effect.provide(database))
      }),
    (patience + 180) * 1_000
  )
})

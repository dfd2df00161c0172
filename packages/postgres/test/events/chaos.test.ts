/**
 * The log under crashes: writers, sequencers and tailers are killed with -9 and the server is stopped without a
 * checkpoint, repeatedly, while commits overlap (docs/design/events.md E12–E15).
 *
 * The data are the oracle: every change of a row, under the row's lock, emits one event with the new version. So the
 * events of each operation must have the versions 1, 2, 3 … in this order, up to the version of its row at the end.
 *
 * Every process is killed while it works, and the server after every third kill; the work continues in between. The
 * rounds are counted, so the time that the machine takes does not matter.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Random, Redacted } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { long, times } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { program } from "../../../../test/harness/programs.ts"
import { Database } from "../../src/database/Database.ts"
import { migrate } from "../../src/index.ts"
import { PostgresControl, PostgresServer } from "../support/PostgresServer.ts"
import { silent } from "../support/silent.ts"
import { ChaosProcess } from "./ChaosProcess.ts"
import { operations, type Seen } from "./chaosModel.ts"

const roles = ["writer", "writer", "sequencer", "sequencer", "tailer", "tailer"]

/** The rounds: in each, every process is killed once. */
const rounds = times(1, 100)
/** The number of events that are read between two losses, at least. */
const progress = times(20, 50)
const killsPerCrash = 3
/** Milliseconds for a process to start and work on a loaded machine. */
const patience = 60_000

const versionsOf = (events: ReadonlyArray<Seen>) => {
  const versions = Array.from({ length: operations }, (): Array<number> => [])
  for (const [, , op, version] of events) versions[op]?.push(version)
  return versions
}

const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

layer(PostgresServer.layerOwn, { excludeTestServices: true })("the log under kill -9 and crashes", (it) => {
  it.effect(
    "the log has every committed event once, in causal order, with rising ids, the same for every reader",
    () =>
      Effect.gen(function* () {
        const server = yield* PostgresServer
        const { crash } = yield* PostgresControl
        const url = yield* server.database
        const database = Database.layer({ url, maxConnections: 2, applicationName: "narthex-test" })
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          yield* Effect.provide(migrate, silent)
          yield* query("test", "create table chaos (op int primary key, version int not null) with (fillfactor = 10)")
          yield* query("test", `insert into chaos select op, 0 from generate_series(0, ${operations - 1}) op`)

          const script = yield* Effect.promise(() => program("chaos-role"))
          const processes = yield* Effect.acquireRelease(
            Effect.sync(() => roles.map((role) => new ChaosProcess(role, script, Redacted.value(url)))),
            (all) => Effect.promise(() => Promise.all(all.map((process) => process.stop())))
          )
          const [tailer, twin] = processes.filter((process) => process.role === "tailer")
          if (tailer === undefined || twin === undefined) return assert.fail("There are two tailers.")
          /** Looks until it is so, also while the server is away; fails at once when a process has failed. */
          const waits = <E, R>(what: string, so: Effect.Effect<boolean, E, R>) =>
            eventually(
              what,
              Effect.suspend(() => {
                const failed = processes.flatMap((process) => process.failed ?? [])
                return failed.length > 0 ? Effect.die(new Error(failed.join("\n"))) : so
              }).pipe(Effect.orElseSucceed(() => false)),
              { every: 10, limit: patience }
            )
          const goesOn = Effect.suspend(() => {
            const goal = tailer.seen.length + progress
            return waits(
              `${progress} more events to be read`,
              Effect.sync(() => tailer.seen.length >= goal)
            )
          })

          const begun = performance.now()
          let crashes = 0
          let kills = 0
          for (let round = 0; round < rounds; round++) {
            for (const victim of yield* Random.shuffle(processes)) {
              yield* goesOn
              // Somewhere in its work, not always at its beginning.
              const pieces = yield* Random.nextIntBetween(1, 9)
              yield* waits(
                `a ${victim.role} to work`,
                Effect.sync(() => victim.done >= pieces)
              )
              yield* Effect.promise(() => victim.killAndRestart())
              kills += 1
              if (kills % killsPerCrash !== 0) continue
              yield* goesOn
              yield* crash
              crashes += 1
            }
          }
          yield* goesOn

          for (const process of processes) if (process.role === "writer") yield* Effect.promise(() => process.stop())
          yield* waits(
            "what the writers committed to be sequenced",
            Effect.map(
              query(
                "test",
                `select 1 from narthex.event_outbox union all select 1 from pg_stat_activity
                 where application_name = 'narthex-chaos' and xact_start is not null and backend_xid is not null`
              ),
              (rows) => rows.length === 0
            )
          )
          const log = (yield* query<{ pos: number; id: string; data: { op: number; version: number } }>(
            "test",
            "select pos, id, data from narthex.event_log order by pos"
          )).map(({ data, id, pos }) => ({ pos, id, op: data.op, version: data.version }))
          yield* waits(
            "both tailers to have read the whole log",
            Effect.sync(() => tailer.seen.length >= log.length && twin.seen.length >= log.length)
          )
          const rows = yield* query<{ version: number }>("test", "select version from chaos order by op")
          const took = Math.round((performance.now() - begun) / 1_000)
          note(`the log under kill -9: ${log.length} events, ${kills} kills, ${crashes} crashes in ${took} s`)

          assert.deepStrictEqual(
            processes.flatMap((process) => process.failed ?? []),
            [],
            "no process exited by itself"
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
          assert.isAtLeast(log.length, progress * (kills + crashes), "there was load")
          assert.deepStrictEqual(
            processes.map((process) => process.kills),
            roles.map(() => rounds),
            "each process was killed in each round"
          )
          assert.strictEqual(crashes, (rounds * roles.length) / killsPerCrash, "the server crashed")
        }).pipe(Effect.provide(database))
      }),
    long ? 3_600_000 : 120_000
  )
})

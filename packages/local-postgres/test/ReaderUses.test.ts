/** Limits of a reader at a running server: docs/design/proxy.md P29. */
import { appendFileSync, statSync } from "node:fs"
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { Effect } from "effect"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import { maxLogSize } from "../src/cluster/PostgresProcess.ts"
import { as, BranchCluster, isDenied, open, runningBranch } from "./runningBranch.ts"
import { kinds } from "./support.ts"

/** Settings that a bound relies on. */
const bounds = [
  ...["log_min_messages", "log_statement", "log_duration", "log_min_duration_statement", "log_error_verbosity"],
  ...["temp_file_limit", "session_preload_libraries"]
]

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`limits of readers on the ${choice} Postgres`, { tags: [tag] }, () =>
    layer(runningBranch(kind), { excludeTestServices: true })((it) => {
      it.effect("no role writes into the server's log, at any level and by no setting of its own", () =>
        Effect.gen(function* () {
          const { log } = yield* BranchCluster
          const size = () => statSync(log).size
          const before = size()
          const loud = ["debug_print_parse", "debug_print_plan", "debug_print_rewritten", "trace_notify"]
          const levels = ["debug", "log", "info", "notice", "warning"]
          for (const role of ["reader", "writer"]) {
            for (const setting of loud)
              yield* Effect.ignore(as(role, `SET ${setting} = on`, "SELECT repeat('x', 1000)"))
            for (const level of levels)
              yield* as(
                role,
                `DO $$ BEGIN FOR n IN 1..1000 LOOP RAISE ${level} '%', repeat('x', 1000); END LOOP; END $$`
              )
            for (let n = 0; n < 50; n++) yield* Effect.ignore(as(role, "SELECT 1 / 0", `SELECT ${"x".repeat(1_000)}`))
          }
          assert.isBelow(size() - before, 1_000)
        })
      )

      it.effect("no role can change a setting that bounds what it uses", () =>
        Effect.gen(function* () {
          const rows = yield* as(
            "reader",
            `SELECT name FROM pg_settings WHERE name IN (${bounds.map((name) => `'${name}'`).join(", ")}) AND context = 'user'`
          )
          assert.deepStrictEqual(rows, [])
          for (const role of ["reader", "writer"]) {
            yield* isDenied(role, "SET log_min_messages = debug5")
            yield* isDenied(role, "RESET ROLE", `ALTER ROLE ${role} SET log_min_messages = debug5`)
          }
        })
      )

      it.effect("a reader exports no snapshot, uses up no transaction id, and queues nothing by a function", () =>
        Effect.gen(function* () {
          for (const call of [
            "pg_export_snapshot()",
            "pg_notify('a', 'b')",
            "txid_current()",
            "pg_current_xact_id()"
          ]) {
            yield* isDenied("reader", `SELECT (${call})::text`)
            yield* as("writer", `SELECT (${call})::text`)
          }
        })
      )

      it.effect("a large log is shortened while its server runs, and goes on", () =>
        Effect.gen(function* () {
          const { log } = yield* BranchCluster
          appendFileSync(log, Buffer.alloc(maxLogSize, "x"))
          const driver = yield* ComputeDriver
          yield* driver.diskUsage
          assert.isBelow(statSync(log).size, maxLogSize)
          assert.isAtLeast(statSync(`${log}.1`).size, maxLogSize)
        })
      )

      it.effect("a session that holds up a long queue of notifications is ended", () =>
        Effect.gen(function* () {
          const cluster = yield* BranchCluster
          const version = yield* asSupervisor(
            cluster,
            "postgres",
            (sql) => sql<{ readonly v: number }>`
            SELECT current_setting('server_version_num')::int AS v`
          )
          if ((version[0]?.v ?? 0) >= 170_000) return
          const held = yield* open("reader")
          const holding = Effect.gen(function* () {
            yield* held.unsafe("LISTEN loud")
            yield* held.unsafe("BEGIN")
            yield* held.unsafe("SELECT 1")
          })
          yield* holding
          const noisy =
            "DO $$ BEGIN FOR n IN 1..9500 LOOP EXECUTE format('NOTIFY loud, %L', n || repeat('x', 7900)); END LOOP; END $$"
          yield* as("reader", noisy)
          yield* asSupervisor(cluster, "postgres", (sql) => sql`SELECT pg_sleep(5)`)
          yield* (yield* ComputeDriver).diskUsage
          yield* Effect.flip(held.unsafe("SELECT 1"))
        }).pipe(Effect.scoped)
      )
    })
  )
}

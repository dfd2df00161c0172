import { existsSync } from "node:fs"
import { chown, mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { EmbeddedPostgres, type LocalPostgresOptions } from "@narthex/local-postgres"
import { Context, Effect, Fiber, Layer, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { processesOf, signal } from "../src/machine/Processes.ts"
import { postgresPrograms } from "../testing/postgresPrograms.ts"
import { closedDirectory, dataDirectory, kinds, postmasterPid, postmasterStatus, supervise, uidOf } from "./support.ts"

const { directory: binaries } = await postgresPrograms()

const clusterIn = (dataDir: string) => clusterAt(join(dataDir, "postgres"), "store")

/** Runs the store while the effect runs; returns the number of rows after adding one. */
const withStore = <A, E, R>(options: LocalPostgresOptions, use: Effect.Effect<A, E, R>) =>
  Effect.provide(use, EmbeddedPostgres.layer(options), { local: true })

const addRow = Effect.gen(function* () {
  const { path, database, username, password } = yield* EmbeddedPostgres
  const context = yield* Layer.build(PgClient.layer({ path, database, username, password }))
  const sql = Context.get(context, PgClient.PgClient)
  yield* sql`CREATE TABLE IF NOT EXISTS kept (id int)`
  yield* sql`INSERT INTO kept VALUES (1)`
  return (yield* sql`SELECT FROM kept`).length
}).pipe(Effect.scoped)

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`the embedded store on the ${choice} Postgres`, { tags: [tag] }, () => {
    it.live("the store keeps its data, adopts the server of a killed process, and leaves no process running", () =>
      Effect.gen(function* () {
        const options = { dataDir: yield* dataDirectory(kind), binaries: choice }
        const { data, name } = clusterIn(options.dataDir)
        assert.strictEqual(yield* withStore(options, addRow), 1)
        assert.deepStrictEqual(yield* processesOf(name), [])
        const child = yield* supervise({ run: "store", ...options })
        assert.deepStrictEqual(child.said, { rows: 2 })
        const left = postmasterPid(data)
        yield* child.end("SIGKILL")
        const pid = Effect.sync(() => postmasterPid(data))
        assert.deepStrictEqual(yield* withStore(options, Effect.all([addRow, pid])), [3, left])
        assert.deepStrictEqual(yield* processesOf(name), [])
      })
    )

    it.live(
      "the store runs under a uid without a name, inside a directory that this uid cannot enter",
      () =>
        Effect.gen(function* () {
          const runAs = { uid: 65532, gid: 65532 }
          const options = { dataDir: join(yield* closedDirectory, ".narthex"), binaries: choice, runAs }
          const uid = yield* withStore(
            options,
            Effect.andThen(
              addRow,
              Effect.sync(() => uidOf(postmasterPid(clusterIn(options.dataDir).data)))
            )
          )
          assert.strictEqual(uid, runAs.uid)
          assert.strictEqual(yield* withStore(options, addRow), 2)
        }),
      { tags: ["root"] }
    )
  })
}

describe("the embedded store", () => {
  it.live("the store recovers when the server was killed too and another process has its pid", () =>
    Effect.gen(function* () {
      const options = { dataDir: yield* dataDirectory(0), binaries }
      const { data, name } = clusterIn(options.dataDir)
      const child = yield* supervise({ run: "store", ...options })
      yield* child.end("SIGKILL")
      yield* signal(postmasterPid(data), "SIGKILL")
      yield* Effect.promise(() => writeFile(join(data, "postmaster.pid"), `${process.pid}\n${data}\n`))
      assert.strictEqual(yield* withStore(options, addRow), 2)
      assert.deepStrictEqual(yield* processesOf(name), [])
    })
  )

  it.live(
    "the store of an ordinary user runs as that user",
    () =>
      Effect.gen(function* () {
        const become = { uid: 65534, gid: 65534 }
        const dataDir = yield* closedDirectory
        yield* Effect.promise(() => chown(dataDir, become.uid, become.gid))
        const first = yield* supervise({ run: "store", dataDir, binaries, become })
        assert.deepStrictEqual(first.said, { rows: 1 })
        assert.strictEqual(uidOf(postmasterPid(clusterIn(dataDir).data)), become.uid)
        yield* first.end("SIGKILL")
        const second = yield* supervise({ run: "store", dataDir, binaries, become })
        assert.deepStrictEqual(second.said, { rows: 2 })
        yield* second.end("SIGTERM")
        assert.deepStrictEqual(yield* processesOf(clusterIn(dataDir).name), [])
      }),
    { tags: ["root"] }
  )

  it.live("an interrupted start leaves no process running", () =>
    Effect.gen(function* () {
      const options = { dataDir: yield* dataDirectory(0), binaries }
      const { data, name } = clusterIn(options.dataDir)
      const everyProcess = (kind: NodeJS.Signals) =>
        Effect.flatMap(processesOf(name), (pids) => Effect.forEach(pids, (pid) => signal(pid, kind)))
      const isReady = () => existsSync(join(data, "postmaster.pid")) && postmasterStatus(data) === "ready"
      // The server is stopped with SIGSTOP. If it was ready by then, the start had ended, and another one is tried.
      const attempt = Effect.gen(function* () {
        const starting = yield* Effect.forkChild(withStore(options, Effect.never))
        yield* eventually(
          "a process of the server",
          Effect.map(processesOf(name), (pids) => pids.length > 0),
          { every: 1 }
        )
        yield* everyProcess("SIGSTOP")
        const caught = !isReady()
        starting.interruptUnsafe()
        yield* everyProcess("SIGCONT")
        yield* Fiber.await(starting)
        assert.deepStrictEqual(yield* processesOf(name), [])
        return caught
      })
      yield* eventually("a start that is interrupted before the server is ready", attempt)
    })
  )

  it.live("exactly one of two simultaneous processes gets the store; the other one gets its pid", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const task = { run: "store", dataDir, binaries } as const
      const both = yield* Effect.all([supervise(task), supervise(task)], { concurrency: 2 })
      const winner = both.find((it) => "rows" in it.said)
      const loser = both.find((it) => it !== winner)
      assert.strictEqual(loser?.said.failed, "DataDirectoryLocked")
      assert.include(loser?.said.message, `process ${winner?.pid}`)
    })
  )

  it.live("another process gets the connection of a running store, a short path for data of any path length", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0, "long".repeat(20), "longer".repeat(20))
      const running = EmbeddedPostgres.running(dataDir)
      assert.deepStrictEqual(yield* running, Option.none())
      const [told, own, rows] = yield* withStore({ dataDir, binaries }, Effect.all([running, EmbeddedPostgres, addRow]))
      assert.deepStrictEqual(told, Option.some(own))
      assert.strictEqual(rows, 1)
      assert.isAtMost(Buffer.byteLength(own.path), 107)
      assert.deepStrictEqual(yield* running, Option.none())
      yield* Effect.promise(() => rm(dirname(own.host), { recursive: true }))
    })
  )

  it.live("data of another major version are refused and not changed", () =>
    Effect.gen(function* () {
      const dataDir = yield* closedDirectory
      const { data } = clusterIn(dataDir)
      yield* Effect.promise(async () => {
        await mkdir(data, { recursive: true })
        await writeFile(join(data, "PG_VERSION"), "12\n")
      })
      const error = yield* Effect.flip(withStore({ dataDir, binaries }, addRow))
      assert(error._tag === "PostgresBinariesMissing")
      assert.include(error.message, "the data needs 12")
      assert.isFalse(existsSync(join(data, "postmaster.pid")))
    })
  )

  it.live("missing binaries are reported with what to do", () =>
    Effect.gen(function* () {
      const dataDir = yield* closedDirectory
      const error = yield* Effect.flip(withStore({ dataDir, binaries: dataDir }, addRow))
      assert(error._tag === "PostgresBinariesMissing")
      assert.include(error.message, `${dataDir}: there is no postgres`)
      assert.include(error.message, "NARTHEX_POSTGRES_BIN")
    })
  )
})

/**
 * A process that supervises Postgres, for tests that kill it. It prints one line of JSON and runs until SIGTERM, or
 * until the test closes its stdin.
 */
import { PgClient } from "@effect/sql-pg"
import { BranchId, ComputeDriver, ComputeTenant, EndpointId, type EndpointSize, OrgId } from "@narthex/core"
import { EmbeddedPostgres, LocalComputeDriver } from "@narthex/local-postgres"
import { Duration, Effect, Fiber, Option } from "effect"
import { lockDirectory } from "../src/machine/DirectoryLock.ts"
import { runProgram } from "../src/machine/runProgram.ts"
import { awaitDirectory } from "../src/machine/standby.ts"

export interface Task {
  readonly run: "lock" | "standby" | "store" | "compute" | "program"
  readonly dataDir: string
  readonly binaries: string
  /** The CPU control group that it is started in, and may divide. */
  readonly cpuGroup?: string
  /** The organization that the compute belongs to. */
  readonly org?: string
  /** The generation of the start. Left out: 7. */
  readonly generation?: number
  /** The size of the compute. */
  readonly size?: EndpointSize
  /** Where a program writes its pid and that of its parent. */
  readonly file?: string
  /** The user to change to at the start. */
  readonly become?: { readonly uid: number; readonly gid: number }
}

const task: Task = JSON.parse(process.argv[2] ?? "")
if (task.become !== undefined) {
  process.setgroups?.([])
  process.setgid?.(task.become.gid)
  process.setuid?.(task.become.uid)
}

const say = (line: unknown) => Effect.sync(() => console.log(JSON.stringify(line)))

const store = Effect.gen(function* () {
  const { path, database, username, password } = yield* EmbeddedPostgres
  const count = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql`CREATE TABLE IF NOT EXISTS kept (id int)`
    yield* sql`INSERT INTO kept VALUES (1)`
    return (yield* sql`SELECT FROM kept`).length
  })
  yield* say({ rows: yield* Effect.provide(count, PgClient.layer({ path, database, username, password })) })
  return yield* Effect.never
}).pipe(Effect.provide(EmbeddedPostgres.layer(task)))

const compute = Effect.gen(function* () {
  const driver = yield* ComputeDriver
  const branch_id = BranchId.make("br-kept")
  yield* driver.createBranch(branch_id, Option.none())
  const { generation = 7, size = null } = task
  const endpoint_id = EndpointId.make("ep-kept")
  yield* say(yield* driver.start({ branch_id, endpoint_id, generation, roles: [], size }))
  return yield* Effect.never
}).pipe(
  Effect.provideService(ComputeTenant, task.org === undefined ? null : OrgId.make(task.org)),
  Effect.provide(LocalComputeDriver.layer(task))
)

const lock = Effect.gen(function* () {
  yield* lockDirectory(task.dataDir)
  yield* say({})
  return yield* Effect.never
}).pipe(Effect.scoped)

const standby = Effect.gen(function* () {
  yield* awaitDirectory(task.dataDir, { patience: Duration.seconds(2) })
  yield* say({})
  return yield* Effect.never
}).pipe(Effect.scoped)

const running = Effect.gen(function* () {
  yield* Effect.forkChild(runProgram("sh", ["-c", `echo $$ $PPID > '${task.file}' && exec sleep 1000`]))
  yield* say({})
  return yield* Effect.never
})

const tasks: Record<Task["run"], Effect.Effect<never, { readonly _tag: string; readonly message: string }>> = {
  lock,
  standby,
  store,
  compute,
  program: running
}
const fiber = Effect.runFork(
  Effect.catch(tasks[task.run], (error) => say({ failed: error._tag, message: error.message }))
)
const stop = () => void Effect.runPromise(Fiber.interrupt(fiber)).then(() => process.exit())
process.once("SIGTERM", stop)
// An open stdin also keeps the process alive, which a waiting fiber does not.
process.stdin.resume().once("end", stop)

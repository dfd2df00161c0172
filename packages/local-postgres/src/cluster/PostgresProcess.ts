/**
 * Starts, finds and stops the postmaster of a cluster. At most one caller at a time per cluster.
 *
 * The postmaster is spawned directly, in a session of its own, and outlives us: after kill -9 of this process it
 * keeps serving, and the next one finds it by `postmaster.pid` and the cluster's name in its command line.
 * Pitfalls:
 * - The server's user may be unable to reach the data directory by its path. It inherits the open directory as
 *   descriptor 3 and gets `-D /proc/self/fd/3`; forked backends inherit the descriptor too, so a reload works.
 *   (Starting in the directory instead fails on 15, which returns to its working directory by name.)
 * - An answer on the socket is not readiness; line 8 of `postmaster.pid` is.
 * - Output goes to a file: a pipe to a parent that died would end the server at its next message.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, constants, openSync } from "node:fs"
import { open, readFile, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { type Cluster, majorOf, socketName, writeConfiguration } from "./Cluster.ts"
import { attempt, DataDirectoryUnusable, LocalPostgresError } from "../machine/LocalPostgresError.ts"
import type { Machine } from "../machine/Machine.ts"
import { ownerOf } from "../machine/PostgresUser.ts"
import { belongsTo, haveEnded, processesOf, signal } from "../machine/Processes.ts"
import { environment } from "../machine/runProgram.ts"

const readyWithin = "60 seconds"
const largestLog = 8 * 1024 * 1024

/** The pid of the live postmaster, ready or not. */
export const findPostmaster = (cluster: Cluster) =>
  Effect.map(postmasterFile(cluster), (lines) => {
    const pid = Number(lines[0])
    return pid > 0 && belongsTo(pid, cluster.name) ? Option.some(pid) : Option.none()
  })

/** Answers once the cluster accepts connections. Running already: adopted. */
export const startPostgres = Effect.fn("startPostgres")(function* (cluster: Cluster, machine: Machine) {
  const running = yield* findPostmaster(cluster)
  if (Option.isSome(running)) {
    yield* becomesReady(cluster, running.value, () => !belongsTo(running.value, cluster.name), 0)
    return
  }
  const major = yield* majorOf(cluster.data)
  if (major !== machine.binaries.major) {
    return yield* new DataDirectoryUnusable({
      directory: cluster.data,
      reason:
        `its data was made by Postgres ${major}, and ${machine.binaries.directory} is ${machine.binaries.major}: ` +
        `set NARTHEX_POSTGRES_BIN to the programs of ${major}`
    })
  }
  const owner = yield* ownerOf(cluster.data, machine.user)
  yield* clearRemains(cluster)
  yield* writeConfiguration(cluster, major, owner, machine.user)
  const logFrom = yield* prepareLog(cluster)
  // Interrupted before it is ready, the server is ended again: until it wrote `postmaster.pid` only we know of it.
  yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const child = yield* spawned(() => spawnPostmaster(cluster, machine, owner))
      const hasEnded = () => child.exitCode !== null || child.signalCode !== null
      yield* restore(becomesReady(cluster, child.pid, hasEnded, logFrom)).pipe(
        Effect.onInterrupt(() => Effect.ignore(endProcess(child.pid, cluster)))
      )
    })
  )
})

/** Ends sessions and stops; a server that does not react is stopped harder. Not running: nothing. */
export const stopPostgres = Effect.fn("stopPostgres")(function* (cluster: Cluster) {
  const running = yield* findPostmaster(cluster)
  if (Option.isSome(running)) {
    if (yield* endProcess(running.value, cluster)) return
  }
  yield* clearRemains(cluster)
})

/** First the fast shutdown with its checkpoint, then the immediate one. */
const endProcess = Effect.fnUntraced(function* (pid: number, cluster: Cluster) {
  yield* signal(pid, "SIGINT")
  if (yield* haveEnded([pid], cluster.name, "10 seconds")) return true
  yield* Effect.logWarning(`Postgres on ${cluster.directory} did not stop in time and is stopped without a checkpoint`)
  yield* signal(pid, "SIGQUIT")
  return yield* haveEnded([pid], cluster.name, "5 seconds")
})

/**
 * Nothing of the cluster is to run, and whatever still does is killed: backends whose postmaster was. Only then may
 * `postmaster.pid` go; Postgres would otherwise refuse to start when its pid is somebody else's by now.
 */
const clearRemains = Effect.fnUntraced(function* (cluster: Cluster) {
  const file = join(cluster.data, "postmaster.pid")
  if ((yield* postmasterFile(cluster)).length === 0) return
  const remaining = yield* processesOf(cluster.name)
  yield* Effect.forEach(remaining, (pid) => signal(pid, "SIGKILL"))
  if (!(yield* haveEnded(remaining, cluster.name, "5 seconds"))) {
    const reason = `processes ${remaining.join(", ")} of ${cluster.directory} cannot be ended`
    return yield* new LocalPostgresError({ operation: "Clearing what a killed Postgres left", reason })
  }
  yield* attempt(`Removing ${file}`, async () => {
    await rm(file, { force: true })
    await rm(join(cluster.run, socketName), { force: true })
    await rm(join(cluster.run, `${socketName}.lock`), { force: true })
  })
})

/** The child once it runs; a program that cannot be executed says so in an event, not in an exception. */
const spawned = (run: () => ChildProcess) =>
  Effect.callback<ChildProcess & { readonly pid: number }, LocalPostgresError>((resume) => {
    try {
      const child = run()
      child.once("error", (cause) => resume(Effect.fail(cannotStart(cause.message))))
      child.once("spawn", () =>
        resume(hasPid(child) ? Effect.succeed(child) : Effect.fail(cannotStart("it has no pid")))
      )
    } catch (cause) {
      resume(Effect.fail(cannotStart(String(cause))))
    }
  })

const hasPid = (child: ChildProcess): child is ChildProcess & { readonly pid: number } => child.pid !== undefined

const spawnPostmaster = (cluster: Cluster, machine: Machine, owner: { readonly uid: number; readonly gid: number }) => {
  const data = openSync(cluster.data, constants.O_RDONLY | constants.O_DIRECTORY)
  const log = openSync(cluster.log, "a", 0o600)
  try {
    const child = spawn(
      join(machine.binaries.directory, "postgres"),
      ["-D", "/proc/self/fd/3", "-c", `cluster_name=${cluster.name}`],
      {
        cwd: "/",
        env: environment,
        detached: true,
        stdio: ["ignore", log, log, data],
        ...(machine.user.drops ? { uid: owner.uid, gid: owner.gid } : {})
      }
    )
    child.unref()
    return child
  } finally {
    closeSync(log)
    closeSync(data)
  }
}

/** Polls for line 8. One that ended before, or never said it, is an error with the end of its log. */
const becomesReady = (cluster: Cluster, pid: number, hasEnded: () => boolean, logFrom: number) =>
  Effect.gen(function* () {
    while (true) {
      const ended = hasEnded()
      const lines = yield* postmasterFile(cluster)
      if (Number(lines[0]) === pid && lines[7]?.trim() === "ready") return
      if (ended) return yield* cannotStart(yield* lastWords(cluster, logFrom))
      yield* Effect.sleep(2)
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: readyWithin,
      orElse: () => Effect.fail(cannotStart(`${cluster.directory} is not ready yet; it may still be recovering`))
    })
  )

const cannotStart = (reason: string) => new LocalPostgresError({ operation: "Starting Postgres", reason })

/** The lines of `postmaster.pid`, none when there is no such file. */
const postmasterFile = (cluster: Cluster) =>
  attempt("Reading postmaster.pid", async () => {
    try {
      return (await readFile(join(cluster.data, "postmaster.pid"), "utf8")).split("\n")
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return []
      throw cause
    }
  })

/** Keeps one old log, and answers where this start's lines begin. */
const prepareLog = (cluster: Cluster) =>
  attempt("Preparing the log", async () => {
    const size = await stat(cluster.log).then(
      (status) => status.size,
      () => 0
    )
    if (size < largestLog) return size
    await rename(cluster.log, `${cluster.log}.1`)
    return 0
  })

const lastWords = (cluster: Cluster, from: number) =>
  attempt("Reading the log", async () => {
    const file = await open(cluster.log, "r")
    try {
      const { size } = await file.stat()
      const start = Math.max(from, size - 4096)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4096), 0, 4096, start)
      return buffer.toString("utf8", 0, bytesRead).trim()
    } finally {
      await file.close()
    }
  })

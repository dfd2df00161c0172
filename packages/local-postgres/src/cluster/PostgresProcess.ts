/**
 * Starts, finds and stops the postmaster of a cluster. At most one caller at a time per cluster.
 *
 * The postmaster has a session of its own and outlives this process: after kill -9 it keeps serving, and the next process
 * finds it by `postmaster.pid` and the cluster's name in its command line.
 *
 * Pitfall: passing the path of the data directory. The server's user may be unable to enter it. The postmaster inherits
 * the open directory as descriptor 3 and gets `-D /proc/self/fd/3`; backends inherit the descriptor, so a reload works.
 * (With the directory as working directory Postgres 15 fails, because it returns to that directory by name.)
 * Pitfall: taking an answer on the socket for readiness. Line 8 of `postmaster.pid` tells when the server is ready.
 * Pitfall: piping the server's output. When the reading process dies, the next message ends the server; so output goes
 * to a file.
 */
import { statSync } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { Clock, Effect, Option, Schedule } from "effect"
import { isIn, unusedAccount } from "../machine/ComputeAccounts.ts"
import { rememberPostmaster } from "../machine/clusterOfProcess.ts"
import { inSlice, nicely, pidsIn } from "../machine/computeSlices.ts"
import { attempt, DataDirectoryUnusable, LocalPostgresError } from "../machine/LocalPostgresError.ts"
import type { Machine } from "../machine/Machine.ts"
import { type Identity, ownerOf } from "../machine/PostgresUser.ts"
import { belongsTo, haveEnded, processesOf, signal } from "../machine/Processes.ts"
import { environment, startServer } from "../machine/programStarter.ts"
import { startOfFile } from "../machine/startOfFile.ts"
import { type Cluster, majorOf, socketName, writeConfiguration } from "./Cluster.ts"
import { hasSecret, settleData } from "./SupervisorSecret.ts"

const readyWithin = "60 seconds"
/** Bytes. */
export const maxLogSize = 8 * 1024 * 1024

/** The pid of the running postmaster, ready or not. */
export const findPostmaster = (cluster: Cluster) =>
  Effect.map(postmasterFile(cluster), (lines) => {
    const pid = Number(lines[0])
    return pid > 0 && belongsTo(pid, cluster.name) ? Option.some(pid) : Option.none()
  })

/** Returns the pid of the postmaster when the cluster accepts connections. A running postmaster is adopted. */
export const startPostgres = Effect.fn("startPostgres")(function* (cluster: Cluster, machine: Machine) {
  const running = yield* findPostmaster(cluster)
  if (Option.isSome(running) && (yield* hasSecret(cluster))) {
    yield* becomesReady(cluster, running.value, () => !belongsTo(running.value, cluster.name), 0)
    return running.value
  }
  // A server that an earlier version has started trusts the supervisor's account.
  if (Option.isSome(running)) yield* stopPostgres(cluster)
  const asked = [majorOf(cluster.data), ownerOf(cluster.data, machine.user)] as const
  const [major, owner] = yield* Effect.all(asked, { concurrency: asked.length })
  if (major !== machine.binaries.major) {
    return yield* new DataDirectoryUnusable({
      directory: cluster.data,
      reason:
        `its data was made by Postgres ${major}, and ${machine.binaries.directory} is ${machine.binaries.major}: ` +
        `set NARTHEX_POSTGRES_BIN to the programs of ${major}`
    })
  }
  yield* clearRemains(cluster)
  const account = yield* accountOf(cluster, machine, owner)
  if (account !== owner || !(yield* hasSecret(cluster))) yield* settleData(cluster, cluster.data, machine, account)
  yield* writeConfiguration(cluster, major, account, machine.user)
  // At most ten seconds.
  const again = { while: meetsLeftovers, schedule: Schedule.spaced("100 millis"), times: 100 }
  return yield* Effect.retry(started(cluster, machine, account), again)
})

/** The account of the server: that of its data, unless they are a branch's that an earlier version has made, with one for all. */
const accountOf = (cluster: Cluster, machine: Machine, owner: Identity) =>
  cluster.purpose === "store" || !machine.user.drops || isIn(machine.uids, owner)
    ? Effect.succeed(owner)
    : unusedAccount(dirname(cluster.directory), machine.uids)

const started = Effect.fnUntraced(function* (cluster: Cluster, machine: Machine, owner: Identity) {
  const logFrom = yield* prepareLog(cluster)
  // An interruption before readiness ends the server: until it has written `postmaster.pid`, no other process can find
  // it.
  return yield* Effect.uninterruptibleMask((restore) => {
    const start = Effect.fnUntraced(function* (groups: ReadonlyArray<string>) {
      const { hasEnded, pid } = yield* spawnPostmaster(cluster, machine, owner, groups)
      rememberPostmaster(pid, cluster.name)
      yield* restore(becomesReady(cluster, pid, hasEnded, logFrom)).pipe(
        Effect.onInterrupt(() => Effect.ignore(endProcess(pid, cluster)))
      )
      for (const group of groups)
        if (!pidsIn(group).includes(pid))
          yield* Effect.logWarning(`A server is not in its control group: ${group} refuses it.`)
      return pid
    })
    return cluster.purpose === "compute" ? inSlice(start, basename(cluster.directory)) : start([])
  })
})

/**
 * Whether the kernel is still taking down a process of the server before. Such a process has no command line any more, so
 * it cannot be found, and leaves the shared memory a moment later; on a busy machine the start is sooner.
 */
const meetsLeftovers = (error: LocalPostgresError) =>
  /pre-existing shared memory block .* is still in use/.test(error.reason)

/**
 * Ends the sessions and stops the server, by force if it does not react. Does nothing when it is not running.
 *
 * Pitfall: looking only for a server with a `postmaster.pid`. If this process's predecessor was killed right after it
 * had spawned the server, the file may not be written yet, and the server would go on in a directory that is removed.
 */
export const stopPostgres = Effect.fn("stopPostgres")(function* (cluster: Cluster) {
  const running = yield* findPostmaster(cluster)
  if (Option.isSome(running) && (yield* endProcess(running.value, cluster))) return
  yield* endRemaining(cluster)
  yield* clearRemains(cluster)
})

/**
 * Stops the server at once, as a crash would: no session can delay it. Every process of the cluster has ended when it
 * returns, and the next start recovers from the WAL.
 */
export const killPostgres = Effect.fn("killPostgres")(function* (cluster: Cluster) {
  const running = yield* findPostmaster(cluster)
  if (Option.isSome(running)) {
    yield* signal(running.value, "SIGQUIT")
    yield* haveEnded([running.value], cluster.name, quitWithin)
  }
  yield* endRemaining(cluster)
  yield* clearRemains(cluster)
})

/** A stopped process does not react to SIGQUIT; Postgres itself would wait 5 seconds for it. */
const quitWithin = "1 second"

/** Fast shutdown (with a checkpoint), then immediate shutdown. `false` when the process survives both. */
const endProcess = Effect.fnUntraced(function* (pid: number, cluster: Cluster) {
  yield* signal(pid, "SIGINT")
  if (yield* haveEnded([pid], cluster.name, "10 seconds")) return true
  yield* Effect.logWarning(`Postgres on ${cluster.directory} did not stop in time and is stopped without a checkpoint.`)
  yield* signal(pid, "SIGQUIT")
  return yield* haveEnded([pid], cluster.name, "5 seconds")
})

/**
 * Kills the remaining processes of the cluster (backends whose postmaster was killed), then removes `postmaster.pid`.
 * Postgres would refuse to start while another process has the pid in that file.
 */
const clearRemains = Effect.fnUntraced(function* (cluster: Cluster) {
  const file = join(cluster.data, "postmaster.pid")
  if ((yield* postmasterFile(cluster)).length === 0) return
  yield* endRemaining(cluster)
  yield* attempt(`Removing ${file}`, async () => {
    await rm(file, { force: true })
    await rm(join(cluster.run, socketName), { force: true })
    await rm(join(cluster.run, `${socketName}.lock`), { force: true })
  })
})

const endRemaining = Effect.fnUntraced(function* (cluster: Cluster) {
  const remaining = yield* processesOf(cluster.name)
  yield* Effect.forEach(remaining, (pid) => signal(pid, "SIGKILL"))
  if (yield* haveEnded(remaining, cluster.name, "5 seconds")) return
  const reason = `processes ${remaining.join(", ")} of ${cluster.directory} cannot be ended`
  return yield* new LocalPostgresError({ operation: "Clearing what a killed Postgres left", reason })
})

/**
 * When the machine has no memory left, the kernel ends the processes of tenants first: every process that the postmaster
 * of a compute starts sets this for itself. The postmaster keeps the value of the supervisor; it takes little memory.
 */
const endsBeforeOthers = { PG_OOM_ADJUST_FILE: "/proc/self/oom_score_adj", PG_OOM_ADJUST_VALUE: "800" }

const spawnPostmaster = Effect.fnUntraced(function* (
  cluster: Cluster,
  machine: Machine,
  owner: Identity,
  groups: ReadonlyArray<string>
) {
  const postgres = join(machine.binaries.directory, "postgres")
  const args = ["-D", "/proc/self/fd/3", "-c", `cluster_name=${cluster.name}`]
  const [command, given] = cluster.purpose === "compute" ? nicely(postgres, args) : ([postgres, args] as const)
  return yield* startServer({
    command,
    args: given,
    from: "/",
    environment: cluster.purpose === "compute" ? { ...environment, ...endsBeforeOthers } : environment,
    identity: machine.user.drops ? owner : undefined,
    directory: cluster.data,
    groups,
    log: cluster.log
  })
})

/** Polls until line 8 of `postmaster.pid` is `ready`. A server that ends before is an error with the end of its log. */
const becomesReady = (cluster: Cluster, pid: number, hasEnded: () => boolean, logFrom: number) =>
  Effect.gen(function* () {
    const begun = yield* Clock.monotonicTimeNanos
    while (true) {
      const ended = hasEnded()
      const lines = yield* postmasterFile(cluster)
      if (Number(lines[0]) === pid && lines[7]?.trim() === "ready") return
      if (ended) return yield* cannotStart(yield* endOfLog(cluster, logFrom))
      yield* Effect.sleep(nextLook(Number((yield* Clock.monotonicTimeNanos) - begun) / 1e6))
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: readyWithin,
      orElse: () =>
        Effect.fail(cannotStart(`${cluster.directory} is not ready within ${readyWithin}; it may still be recovering`))
    })
  )

/**
 * Milliseconds until the next look at a start that has taken so many: one at first. When many servers start at once each takes
 * longer, and looks each millisecond would take a third of the time of this process.
 */
const nextLook = (taken: number) => Math.max(1, Math.min(taken / 16, 100))

const cannotStart = (reason: string) => new LocalPostgresError({ operation: "Starting Postgres", reason })

/** The lines of `postmaster.pid`; none when the file does not exist. */
const postmasterFile = (cluster: Cluster) =>
  Effect.try({
    try: () => {
      try {
        return startOfFile(join(cluster.data, "postmaster.pid"), 4096).toString("utf8").split("\n")
      } catch (cause) {
        if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return []
        throw cause
      }
    },
    catch: (cause) => new LocalPostgresError({ operation: "Reading postmaster.pid", reason: String(cause) })
  })

/** Rotates a large log, keeping one old file. Returns the offset at which the lines of this start begin. */
const prepareLog = (cluster: Cluster) =>
  attempt("Preparing the log", async () => {
    const size = statSync(cluster.log, { throwIfNoEntry: false })?.size ?? 0
    if (size < maxLogSize) return size
    await rename(cluster.log, `${cluster.log}.1`)
    return 0
  })

/** At most the last 4 KiB that this start has logged. */
const endOfLog = (cluster: Cluster, from: number) =>
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

/**
 * The processes of a cluster, identified by their command lines (`clusterOfProcess`).
 *
 * A pid alone proves nothing: after a restart of the machine another process may have it.
 */
import { readFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { type Duration, Effect } from "effect"
import { clusterOfProcess, forgetOthers } from "./clusterOfProcess.ts"
import { attempt, LocalPostgresError } from "./LocalPostgresError.ts"

/** Whether the process is alive and belongs to the cluster. */
export const belongsTo = (pid: number, name: string) => clusterOfProcess(pid) === name

/**
 * Whether the process runs, whatever it is. A zombie does not run: in a container whose first process waits for its own
 * children only, orphans stay zombies until the container ends.
 */
export const isRunning = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

/** Every process of the cluster, the postmaster and its backends. */
export const processesOf = (name: string) =>
  Effect.map(
    attempt("Listing processes", () => readdir("/proc")),
    (entries) => {
      const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number)
      forgetOthers(new Set(pids))
      return pids.filter((pid) => belongsTo(pid, name))
    }
  )

/** The processes that this one has started and that still run; none when it has ended. */
export const childrenOf = (pid: number): ReadonlyArray<number> => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Sends a signal. Succeeds when the process has already ended. */
export const signal = (pid: number, kind: NodeJS.Signals) =>
  Effect.try({
    try: () => {
      try {
        process.kill(pid, kind)
      } catch (cause) {
        if (!(cause instanceof Error && "code" in cause && cause.code === "ESRCH")) throw cause
      }
    },
    catch: (cause) => new LocalPostgresError({ operation: `Sending ${kind} to process ${pid}`, reason: String(cause) })
  })

/**
 * Waits until none of the processes belongs to the cluster; `false` when the time is over first. Each look reads a file for
 * each process, so looks get rarer: what has taken long may take as long again.
 */
export const haveEnded = (pids: ReadonlyArray<number>, name: string, within: Duration.Input) =>
  Effect.gen(function* () {
    for (let pause = 2; pids.some((pid) => belongsTo(pid, name)); pause = Math.min(pause * 1.25, 20))
      yield* Effect.sleep(pause)
    return true
  }).pipe(Effect.timeoutOrElse({ duration: within, orElse: () => Effect.succeed(false) }))

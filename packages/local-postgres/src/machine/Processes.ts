/**
 * The machine's processes, as far as their command lines tell.
 *
 * A pid alone is never believed: after a restart of the machine it may be anybody's. Each process of a cluster
 * carries the cluster's name in its command line (`cluster_name`), which unlike its working directory can be read
 * without privileges over a process of another user.
 */
import { readFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { type Duration, Effect } from "effect"
import { attempt, LocalPostgresError } from "./LocalPostgresError.ts"

/** Does this process live and belong to the cluster? A zombie has no command line and counts as gone. */
export const belongsTo = (pid: number, name: string) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(name)
  } catch {
    return false // the process ended: that is the answer, not a failure
  }
}

/** Every process of the cluster, the postmaster and its backends. */
export const processesOf = (name: string) =>
  Effect.map(
    attempt("Listing processes", () => readdir("/proc")),
    (entries) =>
      entries
        .filter((entry) => /^\d+$/.test(entry))
        .map(Number)
        .filter((pid) => belongsTo(pid, name))
  )

/** One that ended meanwhile is as good as signalled. */
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

/** Waits until none of these belongs to the cluster any more; false when the time is over first. */
export const haveEnded = (pids: ReadonlyArray<number>, name: string, within: Duration.Input) =>
  Effect.gen(function* () {
    while (pids.some((pid) => belongsTo(pid, name))) yield* Effect.sleep(2)
    return true
  }).pipe(Effect.timeoutOrElse({ duration: within, orElse: () => Effect.succeed(false) }))

/**
 * The shares of the CPU where the kernel groups processes by session (`kernel.sched_autogroup_enabled`, the default of
 * many distributions). Every group then has the same share, and `nice` only orders the processes within one. Each process
 * of a Postgres server begins a session, so ten busy backends of a tenant have ten times the share of the supervisor. A
 * process in a CPU control group is in no such group.
 *
 * A group has a nice value too, in `/proc/<pid>/autogroup`. A new group does not inherit it, and nothing tells when a
 * backend starts, so groups are looked for while processes wait for the CPU. Without waiting processes shares do not
 * matter.
 */
import { readFile, writeFile } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { Effect } from "effect"
import { niceness } from "./yieldingCpu.ts"

/** Whether the kernel groups processes by session. A kernel that cannot do so has no such file. */
export const groupsSessions: Effect.Effect<boolean> = Effect.map(
  contents("/proc/sys/kernel/sched_autogroup_enabled"),
  (text) => text.trim() === "1"
)

/** A search for new groups reads three small files for each server. */
const pause = "1 second"

/** Lets the groups of servers yield the CPU to this process, as long as it is run. `postmasters`: the pids of servers. */
export const yieldGroups = <R>(postmasters: Effect.Effect<ReadonlyArray<number>, never, R>) =>
  Effect.gen(function* () {
    if (!(yield* groupsSessions)) return
    const yielding = new Set<number>()
    while (true) {
      yield* Effect.sleep(pause)
      if (yield* isContended) yield* yieldNewGroups(yield* postmasters, yielding)
    }
  })

/**
 * Lets the groups of these servers' processes yield the CPU, but for those in `yielding`, which it keeps up to date.
 *
 * Without privileges the kernel accepts ten changes in a second, from all processes together. What it refuses is tried
 * again by the next call. `proc` is where the kernel shows its processes.
 */
export const yieldNewGroups = Effect.fnUntraced(function* (
  postmasters: ReadonlyArray<number>,
  yielding: Set<number>,
  proc = "/proc"
) {
  const servers = yield* Effect.forEach(postmasters, (pid) => childrenOf(`${proc}/${pid}`, pid), { concurrency: 8 })
  const present = new Set([...postmasters, ...servers.flat()])
  for (const pid of yielding) if (!present.has(pid)) yielding.delete(pid)
  for (const pid of present) if (!yielding.has(pid) && (yield* yieldGroup(`${proc}/${pid}`))) yielding.add(pid)
})

const yieldGroup = (process: string): Effect.Effect<boolean> =>
  Effect.tryPromise(() => writeFile(`${process}/autogroup`, String(niceness), { flag: "r+" })).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )

/** More processes want to run than there are cores. */
const isContended = Effect.map(contents("/proc/loadavg"), (text) => {
  const [runnable = "0"] = text.split(" ")[3]?.split("/") ?? []
  return Number(runnable) > availableParallelism()
})

const childrenOf = (process: string, pid: number) =>
  Effect.map(contents(`${process}/task/${pid}/children`), (text) => text.split(" ").filter(Boolean).map(Number))

/** The text of a file of `/proc`; empty if the process has ended or the kernel has no such file. */
function contents(path: string): Effect.Effect<string> {
  return Effect.tryPromise(() => readFile(path, "utf8")).pipe(Effect.orElseSucceed(() => ""))
}

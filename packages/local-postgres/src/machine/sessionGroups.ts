/**
 * The shares of the CPU of servers with many busy sessions: ten busy backends of a tenant would have ten times the share of
 * one, and together more than the supervisor.
 *
 * Where the kernel groups processes by session (`kernel.sched_autogroup_enabled`, the default of many distributions) every
 * group has the same share, and `nice` only orders the processes within one. Each process of a Postgres server begins a
 * session. A process in a CPU control group, as that of a service usually is, is in no such group, and its `nice` counts.
 * So both are set.
 *
 * A group has a nice value too, in `/proc/<pid>/autogroup`. A new group does not inherit it, and nothing tells when a
 * backend starts, so new ones are looked for while processes wait for the CPU. Without waiting processes shares do not
 * matter.
 *
 * Pitfall: reading these files asynchronously. They are in memory, and each read would wait for turns of the event loop
 * and for a thread, most when the machine is busy.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism, constants, getPriority, setPriority } from "node:os"
import { Clock, Effect } from "effect"
import { type Known, type RunningServer, yieldBusy } from "./busyServers.ts"
import { CpuGroups } from "./CpuGroups.ts"
import { childrenOf, wantsCpu } from "./Processes.ts"
import { yields } from "./serverGroups.ts"
import { niceness } from "./yieldingCpu.ts"

/** Whether the kernel groups processes by session. A kernel that cannot do so has no such file. */
export const groupsSessions: Effect.Effect<boolean> = Effect.sync(
  () => contents("/proc/sys/kernel/sched_autogroup_enabled").trim() === "1"
)

/** What searches read, and how a process is made to yield the CPU: whether it does. */
export interface CpuAccess {
  readonly proc: string
  readonly yieldCpu: (pid: number, by: number) => boolean
}

/** How long a new session can have the share of the platform. A search reads one small file for each server. */
const pause = "100 millis"

/**
 * Searches after which the servers themselves are looked for, and their processes that want the CPU are counted, which
 * reads a file for each of these.
 */
const searches = 10

/** Searches between two decisions which servers are busy. In a shorter time a new connection alone would look busy. */
const searchesPerLook = 5

/** The lowest share that the kernel has. */
const nicest = 19

/**
 * Lets the sessions of servers yield the CPU to this process, as long as it is run. `running`: the servers.
 * `supervisor`: the role of this process, whose sessions are left alone, because they end the rights of others.
 */
export const yieldGroups = <R>(running: Effect.Effect<ReadonlyArray<RunningServer>, never, R>, supervisor: string) =>
  Effect.gen(function* () {
    const controlled = yield* CpuGroups
    const known: Known = new Map()
    const groups = yield* groupsSessions
    const yieldCpu = (pid: number, by: number) => {
      const yields = yieldProcess(pid, by)
      return groups ? yieldGroup(pid, by) : yields
    }
    const yielding = new Map<number, number>()
    while (true) {
      yield* Effect.sleep(pause)
      if (!isContended()) continue
      const servers = yield* running
      const shares = sharesOf(servers.map(({ postmaster }) => postmaster))
      for (let search = 0; search < searches; search++) {
        if (controlled !== undefined && search % searchesPerLook === 0)
          yieldBusy(controlled, servers, known, Number(yield* Clock.monotonicTimeNanos))
        const yieldingServers = new Set(
          servers.flatMap((it) => (controlled !== undefined && yields(controlled, it.cluster) ? [it.postmaster] : []))
        )
        yield* yieldNewSessions(shares, supervisor, yielding, { proc: "/proc", yieldCpu }, yieldingServers)
        yield* Effect.sleep(pause)
      }
    }
  })

/**
 * The nice value for each server's processes, and for their groups: together they have the share of one, however many of them
 * want the CPU. Otherwise a tenant would take the CPU from others by opening sessions. A step of nice is a quarter more.
 */
export const sharesOf = (postmasters: ReadonlyArray<number>, proc = "/proc"): ReadonlyMap<number, number> =>
  new Map(
    postmasters.map((pid) => {
      const wanting = childrenOf(pid, proc).filter((child) => wantsCpu(child, proc)).length
      return [pid, Math.min(nicest, niceness + Math.round(Math.log(Math.max(1, wanting)) / Math.log(1.25)))]
    })
  )

/**
 * Lets these servers' processes yield the CPU, but for the sessions of the supervisor. `shares`: the nice value for the
 * processes of each server; its own is not changed, because it starts sessions. `yielding`: that of each process, which
 * this keeps up to date. A value that is off by one stays.
 *
 * Without privileges the kernel accepts ten changes of groups in a second, from all processes together. So new processes
 * come first, and what the kernel refuses is tried again by the next call.
 *
 * `busy`: the servers whose control groups yield. Their new sessions are left alone until these do not.
 * Pitfall: reading the command lines of processes that yield (`clusterOfProcess`).
 */
export const yieldNewSessions = (
  shares: ReadonlyMap<number, number>,
  supervisor: string,
  yielding: Map<number, number>,
  { proc, yieldCpu }: CpuAccess,
  busy: ReadonlySet<number> = new Set()
) =>
  Effect.sync(() => {
    const present = new Map<number, number>()
    for (const [server, nice] of shares) {
      present.set(server, niceness)
      for (const pid of childrenOf(server, proc))
        if (yielding.has(pid) || (!busy.has(server) && isOf(pid, supervisor, proc) === false)) present.set(pid, nice)
    }
    for (const pid of yielding.keys()) if (!present.has(pid)) yielding.delete(pid)
    const due = [...present]
      .filter(([pid, nice]) => Math.abs((yielding.get(pid) ?? Number.POSITIVE_INFINITY) - nice) > 1)
      .toSorted(([a], [b]) => Number(yielding.has(a)) - Number(yielding.has(b)))
    for (const [pid, nice] of due) if (yieldCpu(pid, nice)) yielding.set(pid, nice)
  })

/**
 * Whether a process of a server is a session of the role; `undefined` until it has a title. A client that asks for the
 * role has it in its title too, but does not get past the authentication.
 */
const isOf = (pid: number, role: string, proc: string): boolean | undefined => {
  const [, after] = /^postgres: [^ ]+: (.*)/s.exec(contents(`${proc}/${pid}/cmdline`)) ?? []
  return after?.startsWith(`${role} `)
}

/**
 * Lowers the priority of a process to that much below this one's. `false`: it has ended. Without privileges it cannot be
 * raised again, so one that is lower stays so: it is that of one session.
 */
export const yieldProcess = (pid: number, by: number): boolean => {
  try {
    const wanted = Math.min(constants.priority.PRIORITY_LOW, getPriority() + by)
    if (getPriority(pid) < wanted) setPriority(pid, wanted)
    return true
  } catch {
    return false
  }
}

/** Gives the group of a process a nice value. `false`: it has ended, or the kernel refuses. */
export const yieldGroup = (pid: number, by: number, proc = "/proc"): boolean => {
  try {
    writeFileSync(`${proc}/${pid}/autogroup`, String(by), { flag: "r+" })
    return true
  } catch {
    return false
  }
}

/** More processes want to run than there are cores. */
const isContended = (): boolean => {
  const [runnable = "0"] = contents("/proc/loadavg").split(" ")[3]?.split("/") ?? []
  return Number(runnable) > availableParallelism()
}

/** The text of a file of `/proc`; empty if the process has ended or the kernel has no such file. */
function contents(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

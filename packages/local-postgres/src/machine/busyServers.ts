/**
 * Which servers are busy: their control groups yield the CPU (`setBusy`), those of others do not. What the servers of a
 * person take decides whether that person yields (`personGroups`).
 *
 * So a tenant that computes does not slow one that connects, wakes or reads a row, nor the supervisor's sessions there.
 */
import { readFileSync } from "node:fs"
import { Effect } from "effect"
import { CpuGroups, type OpenCpuGroups } from "./CpuGroups.ts"
import { pidsIn } from "./cpuGroupFiles.ts"
import { wantsCpu } from "./Processes.ts"
import { divideAmongPeople, weighPeople } from "./personGroups.ts"
import { endBusy, setBusy } from "./serverGroups.ts"

/** A server that runs: the pid of its postmaster, and the name of its cluster. */
export interface RunningServer {
  readonly postmaster: number
  readonly cluster: string
}

/** What the processes of a server have taken since they began, at one look. */
export interface Taken {
  /** Nanoseconds of the monotonic clock. */
  readonly at: number
  /**
   * By pid, nanoseconds: on the CPU, and waiting for it; and whether it waits now.
   *
   * Pitfall: the time alone. The kernel adds a wait at its end, so a process that gets nothing has waited for nothing.
   */
  readonly processes: ReadonlyMap<number, { readonly ran: number; readonly waited: number; readonly isReady: boolean }>
  /** Nanoseconds on the CPU of every process that has ended. */
  readonly ended: number
}

/** What a server wanted between two looks. */
export interface Demand {
  /** The cores that it had, including what began and ended in between. */
  readonly ran: number
  /** The cores that its processes waited for, together. */
  readonly waited: number
  /** The pids of the processes that ran or waited most of the time. */
  readonly wanting: ReadonlySet<number>
  /** How many of these are steady. */
  readonly steady: number
}

/** The part of the time for which a process wants the CPU that is `wanting`. One that starts or connects wants it shortly. */
const most = 0.75
/**
 * One that is wanting is steady if it has run for this part of the time, or was wanting before already.
 *
 * Pitfall: from the first time on. A process that needs 10 ms may wait for half a second while the platform and others are
 * before it, and its server would be made to wait even longer.
 */
const some = 0.1

/** `wanted`: what was `wanting` before. */
export const demandBetween = (before: Taken, after: Taken, wanted: ReadonlySet<number> = new Set()): Demand => {
  const elapsed = Math.max(1, after.at - before.at)
  let ran = after.ended - before.ended
  for (const [pid, then] of before.processes) if (!after.processes.has(pid)) ran -= then.ran
  ran = Math.max(0, ran)
  const wanting = new Set<number>()
  let [waited, steady] = [0, 0]
  for (const [pid, now] of after.processes) {
    const then = before.processes.get(pid) ?? { ran: 0, waited: 0 }
    const running = now.ran - then.ran
    const hasHadNothing = now.isReady && running === 0 && now.waited === then.waited
    // A wait that has just ended may have begun before the last look.
    const waiting = hasHadNothing ? elapsed : Math.min(now.waited - then.waited, Math.max(0, elapsed - running))
    ran += running
    waited += waiting
    if (running + waiting <= most * elapsed) continue
    wanting.add(pid)
    if (running > some * elapsed || wanted.has(pid)) steady++
  }
  return { ran: ran / elapsed, waited: waited / elapsed, wanting, steady }
}

/**
 * A server is busy from when a process of it is steady, all together have half a core, or twice in a row they have a quarter
 * and want more than a whole one, until all together want less than a quarter. For one that is busy waiting counts as well,
 * because it may get nothing.
 *
 * Pitfall: steady processes alone. Sessions that take turns, or connect again each half second, want the CPU all the time,
 * and none of them does.
 * Pitfall: waiting alone. Connections that strangers open wait too, and would make the server of another tenant yield.
 */
export const isBusyWith = (demand: Wanted, wasBusy: boolean, former?: Wanted): boolean => {
  if (wasBusy) return demand.ran + demand.waited > 0.25
  return demand.steady > 0 || demand.ran > 0.5 || (wantMore(demand) && former !== undefined && wantMore(former))
}

type Wanted = Pick<Demand, "ran" | "steady" | "waited">

const wantMore = ({ ran, waited }: Wanted) => ran > 0.25 && ran + waited > 1

/** What servers had taken at the last look, and wanted before it, by the name of the cluster. */
export type Known = Map<string, { readonly taken: Taken; readonly demand: Demand | undefined }>

/** Looks at each server, and changes the groups of those that became busy or are so no longer. */
export const yieldBusy = (
  groups: OpenCpuGroups,
  servers: ReadonlyArray<RunningServer>,
  known: Known,
  at: number,
  proc = "/proc"
): void => {
  const running = new Set(servers.map(({ cluster }) => cluster))
  for (const cluster of known.keys()) if (!running.has(cluster)) known.delete(cluster)
  const ofPeople = new Map<string, number>()
  for (const { cluster, postmaster } of servers) {
    if (groups.starting.has(cluster)) {
      // What it takes to recover does not count.
      known.delete(cluster)
      continue
    }
    const taken = takenBy(postmaster, pidsIn(groups.of(cluster)), at, proc)
    const former = known.get(cluster)
    const demand = former === undefined ? undefined : demandBetween(former.taken, taken, former.demand?.wanting)
    known.set(cluster, { taken, demand })
    const home = groups.homes.get(cluster)
    if (home !== undefined && demand !== undefined) {
      // One who yields may get nothing, and wants the CPU nevertheless.
      const waited = groups.people.get(home)?.demand.isHeavy === true ? demand.waited : 0
      ofPeople.set(home, (ofPeople.get(home) ?? 0) + demand.ran + waited)
    }
    if (demand === undefined || groups.attended.has(cluster)) continue
    const wasBusy = groups.busy.has(cluster)
    const isBusy = isBusyWith(demand, wasBusy, former?.demand)
    try {
      if (isBusy !== wasBusy) setBusy(groups, cluster, isBusy)
    } catch {
      // It has just been stopped.
      known.delete(cluster)
    }
  }
  weighPeople(groups, ofPeople, at)
}

/**
 * Runs what the supervisor does on a server, which is not busy meanwhile: a revocation or a stop does not wait for the CPU
 * with the sessions that it ends.
 */
export const attending = <A, E, R>(cluster: string, change: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(CpuGroups, (groups) => {
    if (groups === undefined) return change
    const { attended } = groups
    const begin = Effect.sync(() => {
      attended.set(cluster, (attended.get(cluster) ?? 0) + 1)
      endBusy(groups, cluster)
      divideAmongPeople(groups)
    })
    const end = Effect.sync(() => {
      const others = (attended.get(cluster) ?? 1) - 1
      if (others > 0) attended.set(cluster, others)
      else attended.delete(cluster)
      endBusy(groups, cluster)
      divideAmongPeople(groups)
    })
    return Effect.acquireUseRelease(
      begin,
      () => change,
      () => end
    )
  })

/** Nanoseconds of a clock tick of `/proc/<pid>/stat`, on every Linux. */
const tick = 10_000_000

const takenBy = (postmaster: number, pids: ReadonlyArray<number>, at: number, proc: string): Taken => {
  const processes = new Map<number, { ran: number; waited: number; isReady: boolean }>()
  for (const pid of pids) {
    const [ran, waited] = fields(`${proc}/${pid}/schedstat`)
    if (ran !== undefined && waited !== undefined) processes.set(pid, { ran, waited, isReady: wantsCpu(pid, proc) })
  }
  // The times of the children that it has waited for (proc_pid_stat(5), fields 16 and 17).
  const [user = 0, system = 0] = fields(`${proc}/${postmaster}/stat`, 13)
  return { at, processes, ended: (user + system) * tick }
}

/** Numbers of a file of `/proc`, after the name that a process has given itself. None if the process has ended. */
const fields = (path: string, from = 0): ReadonlyArray<number> => {
  try {
    const text = readFileSync(path, "utf8")
    return text
      .slice(text.lastIndexOf(")") + 1)
      .trim()
      .split(" ")
      .slice(from)
      .map(Number)
  } catch {
    return []
  }
}

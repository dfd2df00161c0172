/**
 * CPU control groups (cgroups(7), version 1 or 2) within one that the operator gives to the platform: `platform` for this
 * process and what it starts, `copies` for the programs that copy and measure, and one for each server of a tenant.
 *
 * A group has its share of the CPU however many processes it has, and a process begins in the group of the one that has
 * started it. So the share of a server does not grow with its sessions, and none has to be looked for.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Context, Effect } from "effect"
import { LocalPostgresError } from "./LocalPostgresError.ts"

export interface OpenCpuGroups {
  /** The directory of the group for programs that copy. */
  readonly copies: string
  /** That of the group of a server, by the name of its cluster. `groupOfServer` makes it. */
  readonly of: (cluster: string) => string
  readonly version: 1 | 2
  /** The clusters whose servers start: users cannot connect yet. They are not busy. */
  readonly starting: Set<string>
  /** The clusters whose groups yield the CPU. */
  readonly busy: Set<string>
  /** The clusters on which the supervisor works, and how many times at once. They are not busy. */
  readonly attended: Map<string, number>
  /** The clusters whose servers have ended, and whose groups the kernel does not let go yet. */
  readonly left: Set<string>
}

/** `undefined`: the operator gives no control group, and priorities alone have to do (`yieldingCpu`). */
export const CpuGroups = Context.Reference<OpenCpuGroups | undefined>("@narthex/local-postgres/CpuGroups", {
  defaultValue: () => undefined
})

/**
 * Shares of the CPU, as `cpu.weight` of version 2 has them, between 1 and 10,000. Only their ratio counts. Groups of
 * `cpu.idle` have 0.3. A share also says how soon a process runs: one with a small share waits for time slices of those
 * with larger ones.
 *
 * Pitfall: a start or a copy with little. It needs 20 or 60 ms of a core, and beside the copies of others took up to a second.
 * Meanwhile it keeps its place, the disk and its parent's log, and another tenant's waits for these.
 */
const weights = { platform: 400, copies: 400, starting: 400, serving: 50 }

/** What up to 16 starts have together, so that those that recover at once leave the platform a third of what both take. */
const mostOfStarts = 2 * weights.platform

/** The share of each of so many starts. */
export const shareOfStart = (starts: number): number =>
  Math.max(weights.serving, Math.min(weights.starting, Math.floor(mostOfStarts / starts)))

/** How often processes are moved that others have started meanwhile. */
const rounds = 20

/** Divides a control group. This process has to be in it, and moves to `platform` with every other process there. */
export const openCpuGroups = (directory: string) =>
  changing(`Dividing the CPU control group ${directory} (NARTHEX_CPU_GROUP)`, () => divide(directory))

const withoutController = "it has no `cpu.idle`: give it the controller `cpu`, on Linux 5.15 or newer"

const divide = (directory: string): OpenCpuGroups => {
  const platform = join(directory, "platform")
  const groups: OpenCpuGroups = {
    copies: join(directory, "copies"),
    of: (cluster) => join(directory, cluster),
    version: existsSync(join(directory, "cgroup.controllers")) ? 2 : 1,
    starting: new Set(),
    busy: new Set(),
    attended: new Map(),
    left: new Set()
  }
  if (![...pidsIn(directory), ...pidsIn(platform)].includes(process.pid)) {
    throw new Error(`this process is not in ${directory}: it has to be started in that control group`)
  }
  mkdirSync(platform, { recursive: true })
  // Version 2 gives no shares to the groups within one that has processes itself.
  for (let round = 0; round < rounds && pidsIn(directory).length > 0; round++)
    for (const pid of pidsIn(directory)) joinGroup(platform, pid)
  if (groups.version === 2 && !readFileSync(join(directory, "cgroup.controllers"), "utf8").split(/\s/).includes("cpu"))
    throw new Error(withoutController)
  if (groups.version === 2) writeFileSync(join(directory, "cgroup.subtree_control"), "+cpu")
  mkdirSync(groups.copies, { recursive: true })
  if (!existsSync(join(groups.copies, "cpu.idle"))) throw new Error(withoutController)
  setWeight(groups, platform, weights.platform)
  setWeight(groups, groups.copies, weights.copies)
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory() && entry.name.startsWith("narthex-") && !removeGroup(join(directory, entry.name)))
      // The server of an earlier process, which may have yielded.
      endBusy(groups, entry.name)
  return groups
}

/** The group of a server, with the share of one that starts, until it `serves`. It is made if there is none. */
export const groupOfServer = Effect.fnUntraced(function* (cluster: string) {
  const groups = yield* CpuGroups
  if (groups === undefined) return undefined
  const group = groups.of(cluster)
  groups.left.delete(cluster)
  removeLeft(groups)
  yield* changing(`Making the CPU control group ${group}`, () => {
    mkdirSync(group, { recursive: true })
    groups.starting.add(cluster)
    setBusy(groups, cluster, false)
    divideAmongStarts(groups)
  })
  return group
})

/** Removes a group. `false`: it has processes, or is not there. */
const removeGroup = (group: string): boolean => {
  try {
    rmdirSync(group)
    return true
  } catch {
    return false
  }
}

/**
 * Removes the group of a server that has ended. The kernel counts its processes a moment longer, on a busy machine a second,
 * and the next server does not wait for that: its start tries again what was left.
 */
export const leaveGroup = (cluster: string) =>
  Effect.map(CpuGroups, (groups) => {
    if (groups === undefined) return
    if (groups.starting.delete(cluster)) divideAmongStarts(groups)
    groups.left.add(cluster)
    removeLeft(groups)
  })

const removeLeft = (groups: OpenCpuGroups): void => {
  for (const cluster of groups.left) {
    const group = groups.of(cluster)
    if (removeGroup(group) || !existsSync(group)) groups.left.delete(cluster)
  }
}

/** Moves a process to a group. `false`: one of them has ended. */
export const joinGroup = (group: string, pid: number): boolean => {
  try {
    writeFileSync(join(group, "cgroup.procs"), String(pid), { flag: "r+" })
    return true
  } catch {
    return false
  }
}

/** The processes in a group; none if there is no such group. */
export const pidsIn = (group: string): ReadonlyArray<number> => {
  try {
    return readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/**
 * Sets whether a server's group yields (`cpu.idle`): a process of another group preempts its processes at once, and while
 * another group wants the core it has a very small share.
 *
 * Pitfall: a weight in place of it. Since Linux 6.6 a process of any weight may finish its time slice before another one
 * runs, up to a tick of 4 ms. A request is ten to thirty turns of the platform and its store, and each would wait for that.
 */
export const setBusy = (groups: OpenCpuGroups, cluster: string, isBusy: boolean): void => {
  const group = groups.of(cluster)
  if (isBusy) groups.busy.add(cluster)
  else groups.busy.delete(cluster)
  writeFileSync(join(group, "cpu.idle"), isBusy ? "1" : "0", { flag: "r+" })
  // The kernel forgets the share of a group that was idle, and refuses one for a group that is.
  if (!isBusy) setWeight(groups, group, shareIn(groups, cluster))
}

const shareIn = ({ starting }: OpenCpuGroups, cluster: string) =>
  starting.has(cluster) ? shareOfStart(starting.size) : weights.serving

/** Gives each server that starts its share of what the starts have together. */
const divideAmongStarts = (groups: OpenCpuGroups): void => {
  for (const cluster of groups.starting) {
    try {
      setWeight(groups, groups.of(cluster), shareIn(groups, cluster))
    } catch {
      // It has just been stopped, or the operator has removed its group.
    }
  }
}

/** The server is no longer busy, if it has a group. */
export const endBusy = (groups: OpenCpuGroups, cluster: string): void => {
  try {
    if (existsSync(groups.of(cluster))) setBusy(groups, cluster, false)
  } catch {
    // The operator has removed it.
  }
}

/** Ends the start of a server: it has the share of one that serves. */
export const serves = (groups: OpenCpuGroups, cluster: string): void => {
  // A further endpoint of a busy server starts nothing: the server goes on yielding.
  if (!groups.starting.delete(cluster)) return
  endBusy(groups, cluster)
  divideAmongStarts(groups)
}

/** The same, however the start ends. */
export const endStart = (cluster: string) =>
  Effect.map(CpuGroups, (groups) => {
    if (groups !== undefined) serves(groups, cluster)
  })

const changing = <A>(operation: string, change: () => A) =>
  Effect.try({
    try: change,
    catch: (cause) =>
      new LocalPostgresError({ operation, reason: cause instanceof Error ? cause.message : String(cause) })
  })

const setWeight = ({ version }: OpenCpuGroups, group: string, weight: number) =>
  version === 2
    ? writeFileSync(join(group, "cpu.weight"), String(weight), { flag: "r+" })
    : writeFileSync(join(group, "cpu.shares"), String(Math.round((weight * 1024) / 100)), { flag: "r+" })

/** The CPU control groups of the platform and of servers: made, divided, taken over and removed. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { Effect } from "effect"
import { CpuGroups, groupsIn, type OpenCpuGroups } from "./CpuGroups.ts"
import { divideGroup, joinGroup, pidsIn, removeGroup, setShare } from "./cpuGroupFiles.ts"
import { LocalPostgresError } from "./LocalPostgresError.ts"
import { divideAmongPeople, enterPerson, groupOfPerson, isPerson } from "./personGroups.ts"

/**
 * Shares of the CPU, as `cpu.weight` of version 2 has them, between 1 and 10,000. Only their ratio counts, among the groups
 * of one directory. Groups of `cpu.idle` have 0.3. A share also says how soon a process runs: one with a small share waits
 * for time slices of those with larger ones.
 *
 * Pitfall: a start or a copy with little. It needs 20 or 60 ms of a core, and beside other processes took up to a second.
 * Meanwhile it keeps its place, the disk and its parent's log, and others wait for these.
 */
const weights = { platform: 400, copies: 400, starting: 400, serving: 50 }

/** How often processes are moved that others have started meanwhile. */
const rounds = 20

/** Divides a control group. This process has to be in it, and moves to `platform` with every other process there. */
export const openCpuGroups = (directory: string) =>
  changing(`Dividing the CPU control group ${directory} (NARTHEX_CPU_GROUP)`, () => divide(directory))

const withoutController = "it has no `cpu.idle`: give it the controller `cpu`, on Linux 5.15 or newer"

const divide = (directory: string): OpenCpuGroups => {
  const platform = join(directory, "platform")
  const groups = groupsIn(directory, existsSync(join(directory, "cgroup.controllers")) ? 2 : 1)
  const { copies, version } = groups
  if (![...pidsIn(directory), ...pidsIn(platform)].includes(process.pid)) {
    throw new Error(`this process is not in ${directory}: it has to be started in that control group`)
  }
  mkdirSync(platform, { recursive: true })
  // Version 2 gives no shares to the groups within one that has processes itself.
  for (let round = 0; round < rounds && pidsIn(directory).length > 0; round++)
    for (const pid of pidsIn(directory)) joinGroup(platform, pid)
  if (version === 2 && !readFileSync(join(directory, "cgroup.controllers"), "utf8").split(/\s/).includes("cpu"))
    throw new Error(withoutController)
  divideGroup(version, directory)
  mkdirSync(copies, { recursive: true })
  if (!existsSync(join(copies, "cpu.idle"))) throw new Error(withoutController)
  setShare(version, platform, weights.platform)
  setShare(version, copies, weights.copies)
  takeOver(groups)
  return groups
}

/** Takes over the groups of servers that an earlier process has left running, and removes those of others. */
const takeOver = (groups: OpenCpuGroups): void => {
  const { directory } = groups
  for (const home of groupsWithin(directory).filter(isPerson)) {
    removeGroup(join(home, "copies"))
    for (const group of groupsWithin(home).filter(isServer)) adopt(groups, home, group)
    if (!removeGroup(home)) enterPerson(groups, home)
  }
  for (const group of groupsWithin(directory).filter(isServer)) adopt(groups, directory, group)
  divideAmongPeople(groups)
}

/** The server may have yielded to the earlier process. */
const adopt = (groups: OpenCpuGroups, home: string, group: string): void => {
  if (removeGroup(group)) return
  const cluster = basename(group)
  if (home !== groups.directory) groups.homes.set(cluster, home)
  endBusy(groups, cluster)
}

const isServer = (group: string) => basename(group).startsWith("narthex-")

const groupsWithin = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [join(directory, entry.name)] : []
  )

/**
 * The group of a server, with the share of one that starts, until it `serves`. It is made if there is none, in that of the
 * person; without one in the directory itself, or where the server has a group already.
 */
export const groupOfServer = Effect.fnUntraced(function* (cluster: string, person: string | null = null) {
  const groups = yield* CpuGroups
  if (groups === undefined) return undefined
  // Its processes may still end there.
  groups.left.add(groups.of(cluster))
  if (person !== null) groups.homes.set(cluster, groupOfPerson(groups, person))
  const group = groups.of(cluster)
  const home = groups.homes.get(cluster)
  groups.left.delete(group)
  removeLeft(groups)
  yield* changing(`Making the CPU control group ${group}`, () => {
    if (home !== undefined) enterPerson(groups, home)
    mkdirSync(group, { recursive: true })
    groups.starting.add(cluster)
    setBusy(groups, cluster, false)
    divideAmongPeople(groups)
  })
  return group
})

/**
 * Removes the group of a server that has ended. The kernel counts its processes a moment longer, on a busy machine a second,
 * and the next server does not wait for that: its start tries again what was left.
 */
export const leaveGroup = (cluster: string) =>
  Effect.map(CpuGroups, (groups) => {
    if (groups === undefined) return
    groups.starting.delete(cluster)
    groups.busy.delete(cluster)
    groups.left.add(groups.of(cluster))
    groups.homes.delete(cluster)
    removeLeft(groups)
    divideAmongPeople(groups)
  })

const removeLeft = (groups: OpenCpuGroups): void => {
  for (const group of groups.left) if (removeGroup(group) || !existsSync(group)) groups.left.delete(group)
}

/** Sets whether a server's group yields. */
export const setBusy = (groups: OpenCpuGroups, cluster: string, isBusy: boolean): void => {
  if (isBusy) groups.busy.add(cluster)
  else groups.busy.delete(cluster)
  const isSoon = groups.starting.has(cluster) || groups.attended.has(cluster)
  const share = isSoon ? weights.starting : weights.serving
  setShare(groups.version, groups.of(cluster), isBusy ? "idle" : share)
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
  divideAmongPeople(groups)
}

/** The same, however the start ends. */
export const endStart = (cluster: string) =>
  Effect.map(CpuGroups, (groups) => {
    if (groups !== undefined) serves(groups, cluster)
  })

/** Whether the server yields to those of others: it is busy, or its person takes more than their part. */
export const yields = ({ busy, homes, people }: OpenCpuGroups, cluster: string): boolean =>
  busy.has(cluster) || people.get(homes.get(cluster) ?? "")?.share === "idle"

const changing = <A>(operation: string, change: () => A) =>
  Effect.try({
    try: change,
    catch: (cause) =>
      new LocalPostgresError({ operation, reason: cause instanceof Error ? cause.message : String(cause) })
  })

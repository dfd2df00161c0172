/**
 * How computes share the CPU of a machine: control groups (cgroups(7), version 1 or 2) within one that the operator gives to
 * the platform (docs/design/proxy.md P41). The kernel does the rest.
 *
 *     platform       this process and what it starts for itself, with the usual weight
 *     computes       everything that works for tenants, with the lowest weight
 *       org-<id>     all of an organization, with the weight of every other one
 *         work       its copies
 *         <branch>   the server of a branch, with the limits of the size of its endpoint
 *
 * Version 1 limits memory in another hierarchy, where the groups of branches are made too, within that of this process.
 *
 * Without a control group the processes of computes have a lower priority, and nothing is divided between organizations.
 *
 * Pitfall: moving a process that runs. Its children stay in the former group, and in version 2 the move stops every
 * start of a program on the machine. So a process enters its group before it becomes its program (`startingProcess`).
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { EndpointSize } from "@narthex/core"
import { Context, Effect } from "effect"
import { LocalPostgresError } from "./LocalPostgresError.ts"
import { limitGroups, memoryGroupOfVersion1 } from "./sliceLimits.ts"

export interface Slices {
  /** The directory of the group `computes`. */
  readonly computes: string
  /** Where version 1 limits the memory of servers. Made when the first has a size; left out: in `computes`, or nowhere. */
  readonly memory?: string | undefined
  /** The directories of groups that processes may be about to enter, and how many of them. */
  readonly entering: Map<string, number>
}

/** The group that the running fiber starts processes in. */
export interface Slice extends Slices {
  /** The directory of the organization's group. */
  readonly group: string
  /** The limits of a server that is started; `null`: none. Left out: those that its group has. */
  readonly size?: EndpointSize | null
}

/** `undefined`: the operator gives no control group. */
export const ComputeSlice = Context.Reference<Slice | undefined>("@narthex/local-postgres/ComputeSlice", {
  defaultValue: () => undefined
})

/** The group of an organization, whose id may contain anything. Work for no organization shares a group. */
export const sliceOf = (slices: Slices, org: string | null): Slice => ({
  ...slices,
  group: join(slices.computes, org === null ? "other" : `org-${encodeURIComponent(org)}`)
})

/** The command that runs a program for a tenant. Its children inherit the priority, and no role of a tenant can raise it. */
export const nicely = (command: string, args: ReadonlyArray<string>): [string, ReadonlyArray<string>] => [
  "nice",
  ["-n", "10", command, ...args]
]

/**
 * Divides a control group, also one that is divided already. This process has to be in it, and moves to `platform` with every
 * other process there.
 */
export const openSlices = (directory: string) =>
  Effect.try({
    try: () => divide(directory),
    catch: (cause) =>
      new LocalPostgresError({
        operation: `Dividing the CPU control group ${directory} (NARTHEX_CPU_GROUP)`,
        reason: cause instanceof Error ? cause.message : String(cause)
      })
  })

/** The most rounds of moving processes: processes may start others before they are moved. */
const rounds = 20

const divide = (directory: string): Slices => {
  const [platform, computes] = [join(directory, "platform"), join(directory, "computes")]
  if (![...pidsIn(directory), ...pidsIn(platform)].includes(process.pid))
    throw new Error(`this process is not in ${directory}: it has to be started in that control group`)
  for (const group of [platform, computes]) mkdirSync(group, { recursive: true })
  for (let round = 0; round < rounds && pidsIn(directory).length > 0; round++)
    for (const pid of pidsIn(directory)) enter(platform, pid)
  for (const group of [directory, computes]) giveController(group)
  const lowest = lowestWeights.find(([file]) => existsSync(join(computes, file)))
  if (lowest === undefined) throw new Error("it does not have the controller `cpu`")
  const [file, weight] = lowest
  writeFileSync(join(computes, file), weight)
  const slices = { computes, memory: memoryOf(directory), entering: new Map() }
  removeEmpty(slices)
  return slices
}

/** Several platforms may be in one group of memory, but each has a CPU group of its own. */
export const memoryOf = (directory: string): string | undefined => {
  const own = memoryGroupOfVersion1(readText("/proc/mounts"), readText("/proc/self/cgroup"))
  return own && join(own, `narthex-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`)
}

const readText = (file: string) => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}

/**
 * The lowest weight of a group, by the file that sets it: of Linux 5.15 and newer, of version 2, and of version 1.
 *
 * Pitfall: a weight where there is `cpu.idle`. Since Linux 6.6 a process of any weight may finish its time slice before
 * another one runs, up to 4 ms, and a request takes ten to thirty turns of the platform and its store.
 */
const lowestWeights = [
  ["cpu.idle", "1"],
  ["cpu.weight", "1"],
  ["cpu.shares", "2"]
] as const

/** Lets the groups within this one have weights and, where this one has it, limits of memory. Version 1 lets them anyway. */
const giveController = (group: string): void => {
  const file = join(group, "cgroup.subtree_control")
  const hasMemory = readText(join(group, "cgroup.controllers")).trim().split(" ").includes("memory")
  if (existsSync(file)) writeFileSync(file, hasMemory ? "+cpu +memory" : "+cpu")
}

/** The processes in a group; none if there is no such group. */
export const pidsIn = (group: string): ReadonlyArray<number> => {
  try {
    return readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number)
  } catch {
    return []
  }
}

const enter = (group: string, pid: number): void => {
  try {
    writeFileSync(join(group, "cgroup.procs"), String(pid))
  } catch (error) {
    const ended = error instanceof Error && "code" in error && error.code === "ESRCH"
    if (!ended) throw error
  }
}

/** The part of an organization's group for everything but servers. */
const work = "work"

/** The directories of the groups of a part, one of each hierarchy. */
const groupsOf = ({ group, memory, size }: Slice, part: string): ReadonlyArray<string> => {
  const limited = memory !== undefined && part !== work && (size != null || existsSync(join(memory, part)))
  return limited ? [join(group, part), join(memory, part)] : [join(group, part)]
}

/**
 * Runs what starts a process in a part of the group of the organization that the call works for, until the process is in it:
 * a server in that of its branch, everything else in `work`. `start` gets the directories of the groups. Groups that cannot be
 * made keep no database down: there are none then.
 */
export const inSlice = <A, E, R>(
  start: (groups: ReadonlyArray<string>) => Effect.Effect<A, E, R>,
  part: string = work
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const slice = yield* ComputeSlice
    if (slice === undefined) return yield* start([])
    const groups = groupsOf(slice, part)
    const made = Effect.catch(make(slice, groups), (error) => Effect.as(Effect.logWarning(error.message), []))
    return yield* Effect.acquireUseRelease(made, start, () => Effect.sync(() => leave(slice, groups)))
  })

const make = (slice: Slice, groups: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* Effect.try({
      try: () => {
        for (const group of groups) slice.entering.set(group, (slice.entering.get(group) ?? 0) + 1)
        removeEmpty(slice)
        mkdirSync(slice.group, { recursive: true })
        share(slice.group)
        for (const group of groups) mkdirSync(group, { recursive: true })
      },
      catch: (cause) => new LocalPostgresError({ operation: `Making ${groups.join(" and ")}`, reason: String(cause) })
    })
    if (slice.size !== undefined) yield* limited(groups, slice.size, "set")
    return groups
  })

/** As `giveController`. An organization of an earlier version has servers there, and gets it once they have ended. */
const share = (group: string): void => {
  try {
    giveController(group)
  } catch {
    // Servers there have the CPU's weights and no limits.
  }
}

const limited = (groups: ReadonlyArray<string>, size: EndpointSize | null, how: "raise" | "set") => {
  const left = limitGroups(groups, size, how)
  return left.length === 0 ? Effect.void : Effect.logWarning(`${groups[0]} does not limit ${left.join(" and ")}.`)
}

/** Gives a server that is started within the effect the limits of a size. */
export const withSize = (size: EndpointSize | null) =>
  Effect.updateService(ComputeSlice, (slice) => (slice === undefined ? undefined : { ...slice, size }))

/** Gives a server that runs, and that another endpoint uses too, the larger limits of the two; `null`: none. */
export const raiseLimits = (branch: string, size: EndpointSize | null): Effect.Effect<void> =>
  Effect.flatMap(ComputeSlice, (slice) =>
    slice === undefined ? Effect.void : limited(groupsOf(slice, branch), size, "raise")
  )

const leave = ({ entering }: Slice, groups: ReadonlyArray<string>): void => {
  for (const group of groups) {
    const others = (entering.get(group) ?? 1) - 1
    if (others > 0) entering.set(group, others)
    else entering.delete(group)
  }
}

/** The directories in one; none if there is no such directory. */
const within = (directory: string): ReadonlyArray<string> => {
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return entries.map(({ name }) => join(directory, name))
}

/** Removes the groups for which nothing runs any more. The kernel keeps groups that have processes, or groups. */
const removeEmpty = ({ computes, entering, memory }: Slices): void => {
  const parts = within(computes).flatMap(within)
  const servers = memory === undefined ? [] : within(memory)
  for (const group of [...parts, ...servers, ...within(computes)])
    if (!entering.has(group))
      try {
        rmdirSync(group)
      } catch {
        // The kernel keeps it.
      }
}

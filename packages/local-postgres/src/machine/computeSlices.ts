/**
 * How computes share the CPU of a machine: control groups (cgroups(7), version 1 or 2) within one that the operator gives to
 * the platform (docs/design/proxy.md P41). The kernel does the rest.
 *
 *     platform       this process and what it starts for itself, with the usual weight
 *     computes       everything that works for tenants, with the lowest weight
 *       org-<id>     the servers and copies of an organization, with the weight of every other one
 *
 * Without a control group the processes of computes have a lower priority, and nothing is divided between organizations.
 *
 * Pitfall: moving a process that runs. Its children stay in the former group, and in version 2 the move stops every
 * start of a program on the machine. So a process enters its group before it becomes its program (`startingProcess`).
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { Context, Effect } from "effect"
import { LocalPostgresError } from "./LocalPostgresError.ts"

export interface Slices {
  /** The directory of the group `computes`. */
  readonly computes: string
  /** The directories of groups that processes may be about to enter, and how many of them. */
  readonly entering: Map<string, number>
}

/** The group that the running fiber starts processes in. */
export interface Slice extends Slices {
  readonly group: string
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

/** Why the group cannot be divided, as far as it shows without a change; `undefined`: nothing does. */
export const whyUndividable = (directory: string): string | undefined => {
  const [processes, controllers] = [join(directory, "cgroup.procs"), join(directory, "cgroup.controllers")]
  if (!existsSync(processes)) return "it is no control group"
  if (existsSync(controllers) && !readFileSync(controllers, "utf8").split(/\s/).includes("cpu"))
    return "it does not have the controller `cpu`"
  try {
    accessSync(processes, constants.W_OK)
    return undefined
  } catch {
    return "this account may not divide it"
  }
}

/** The most rounds of moving processes: processes may start others before they are moved. */
const rounds = 20

const divide = (directory: string): Slices => {
  const why = whyUndividable(directory)
  if (why !== undefined) throw new Error(why)
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
  const slices = { computes, entering: new Map() }
  removeEmpty(slices)
  return slices
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

/** Lets the groups within this one have weights, which they have in version 1 anyway. */
const giveController = (group: string): void => {
  const file = join(group, "cgroup.subtree_control")
  if (existsSync(file)) writeFileSync(file, "+cpu")
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

/**
 * Runs what starts a process in the group of the organization that the call works for, until the process is in it. `start`
 * gets the directory of the group. A group that cannot be made keeps no database down: `undefined`.
 */
export const inSlice = <A, E, R>(
  start: (group: string | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const slice = yield* ComputeSlice
    if (slice === undefined) return yield* start(undefined)
    return yield* Effect.acquireUseRelease(
      Effect.catch(make(slice), (error) => Effect.as(Effect.logWarning(error.message), undefined)),
      start,
      () => Effect.sync(() => leave(slice))
    )
  })

const make = (slice: Slice) =>
  Effect.try({
    try: () => {
      const { entering, group } = slice
      entering.set(group, (entering.get(group) ?? 0) + 1)
      removeEmpty(slice)
      mkdirSync(group, { recursive: true })
      return group
    },
    catch: (cause) => new LocalPostgresError({ operation: `Making ${slice.group}`, reason: String(cause) })
  })

const leave = ({ entering, group }: Slice): void => {
  const others = (entering.get(group) ?? 1) - 1
  if (others > 0) entering.set(group, others)
  else entering.delete(group)
}

/** Removes the groups of organizations for which nothing runs any more. The kernel keeps groups that have processes. */
const removeEmpty = ({ computes, entering }: Slices): void => {
  const groups = readdirSync(computes, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const group of groups.map(({ name }) => join(computes, name)))
    if (!entering.has(group))
      try {
        rmdirSync(group)
      } catch {
        // It has processes.
      }
}

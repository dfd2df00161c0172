/** CPU control groups for tests, where this process may make some: as root, on a system whose groups it can write. */
import { randomUUID } from "node:crypto"
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
import { until } from "../harness/eventually.ts"

export interface TestGroups {
  /** For the platform, which divides it. */
  readonly platform: string
  /** For processes that stand for other machines: they run while nothing else wants the core. */
  readonly others: string
  /**
   * Moves this process to a group with half of the platform's share, until `remove`: it drives clients, which stand for
   * other machines too, but it measures, so that it has to get its turns. Processes that it starts later begin in that
   * group.
   */
  readonly standBack: () => void
  /** Waits until their processes have ended. */
  readonly remove: () => Promise<void>
}

/** Where the controller `cpu` is mounted, of either version; `undefined`: no group can be made there. */
const hierarchy = (): string | undefined =>
  readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , type = "", options = ""]) => type === "cgroup2" || (type === "cgroup" && /\bcpu\b/.test(options)))
    .flatMap(([, mount = ""]) => (mount === "" ? [] : [mount]))
    .find((mount) => isWritable(mount) && (isVersion1(mount) || controllersOf(mount).includes("cpu")))

const isVersion1 = (group: string) => existsSync(join(group, "cpu.shares")) || existsSync(join(group, "release_agent"))

const controllersOf = (group: string): ReadonlyArray<string> => {
  const file = join(group, "cgroup.controllers")
  return existsSync(file) ? readFileSync(file, "utf8").trim().split(" ") : []
}

/** Gives the groups within one the controllers, if they have them not yet; that of memory, where there is one. */
const shareCpu = (group: string): void => {
  const file = join(group, "cgroup.subtree_control")
  const shared = readFileSync(file, "utf8").split(/\s/)
  const missing = ["cpu", "memory"].filter((it) => controllersOf(group).includes(it) && !shared.includes(it))
  if (missing.length > 0) writeFileSync(file, missing.map((it) => `+${it}`).join(" "))
}

const isWritable = (directory: string): boolean => {
  try {
    accessSync(join(directory, "cgroup.procs"), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Whether tests can make control groups. */
export const canMakeCpuGroups = (): boolean => {
  if (!existsSync("/proc/mounts")) return false
  const mount = hierarchy()
  if (mount === undefined) return false
  const probe = join(mount, `narthex-probe-${randomUUID()}`)
  try {
    if (!isVersion1(mount)) shareCpu(mount)
    mkdirSync(probe)
    const has = existsSync(join(probe, "cpu.idle"))
    rmdirSync(probe)
    return has
  } catch {
    return false
  }
}

export const makeCpuGroups = (name: string): TestGroups => {
  const mount = hierarchy()
  if (mount === undefined) throw new Error("No control group can be made; the test needs the tag `cpu-groups`.")
  const parent = join(mount, `narthex-test-${name}-${randomUUID()}`)
  const [platform, others, test] = [join(parent, "platform"), join(parent, "others"), join(parent, "test")]
  mkdirSync(parent)
  if (!isVersion1(mount)) {
    shareCpu(mount)
    shareCpu(parent)
  }
  for (const group of [platform, others, test]) mkdirSync(group)
  writeFileSync(join(others, "cpu.idle"), "1")
  // A group of its own has 1,024 in version 1, and 100 in version 2.
  if (isVersion1(mount)) writeFileSync(join(test, "cpu.shares"), "512")
  else writeFileSync(join(test, "cpu.weight"), "50")
  let home: string | undefined
  return {
    platform,
    others,
    standBack: () => {
      home = ownGroup(mount)
      enterCpuGroup(test, process.pid)
    },
    remove: async () => {
      if (home !== undefined) writeFileSync(join(home, "cgroup.procs"), String(process.pid))
      await removed(parent)
    }
  }
}

/** The directory of this process's group; in a container that shows only a part of the hierarchy, the root of that part. */
const ownGroup = (mount: string): string => {
  const lines = readFileSync("/proc/self/cgroup", "utf8").split("\n")
  const parts = lines.map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
  const isOurs = (controllers = "") => (isVersion1(mount) ? controllers.split(",").includes("cpu") : controllers === "")
  const group = join(mount, parts.find((part) => part !== null && isOurs(part[1]))?.[2] ?? "/")
  return existsSync(group) ? group : mount
}

/** The kernel removes a group only when its last process has ended, which is a moment after it was told to. */
const removed = (group: string) =>
  until("the control groups to be empty", async () => {
    try {
      removeAll(group)
      return true
    } catch {
      return false
    }
  })

const removeAll = (group: string): void => {
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeAll(join(group, entry.name))
  rmdirSync(group)
}

/**
 * Starts a process in a group: in its `platform`, if an earlier process has divided it.
 *
 * Pitfall: entering a group of version 2 that is divided. The kernel refuses processes there.
 */
export const enterCpuGroup = (group: string, pid: number): void => {
  const divided = join(group, "platform")
  writeFileSync(join(existsSync(divided) ? divided : group, "cgroup.procs"), String(pid))
}

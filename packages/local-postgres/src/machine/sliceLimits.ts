/**
 * How much of the CPU and the memory of a machine a control group may take, of version 1 or 2. The files of the group are the
 * only record: they outlive the process that wrote them, as the servers in the group do.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { EndpointSize } from "@narthex/core"

/** The default of the kernel: a group gets its share in each tenth of a second. */
const period = 100_000

interface Limit {
  readonly file: string
  readonly of: (size: EndpointSize) => number
  readonly none: string
  readonly rest: string
}

const cpu = ({ cpus }: EndpointSize) => Math.round(cpus * period)
const memory = ({ memory_bytes }: EndpointSize) => memory_bytes

/** Each kind with its file of version 2 and of version 1. A group has at most one of them. */
const kinds: Readonly<Record<"CPU" | "memory", ReadonlyArray<Limit>>> = {
  CPU: [
    { file: "cpu.max", of: cpu, none: "max", rest: ` ${period}` },
    { file: "cpu.cfs_quota_us", of: cpu, none: "-1", rest: "" }
  ],
  memory: [
    { file: "memory.max", of: memory, none: "max", rest: "" },
    { file: "memory.limit_in_bytes", of: memory, none: "-1", rest: "" }
  ]
}

/** The limit that a group has now; infinite: none. */
const held = (path: string, none: string): number => {
  const [word = none] = readFileSync(path, "utf8").trim().split(" ")
  return word === none ? Number.POSITIVE_INFINITY : Number(word)
}

/**
 * Writes the limits of a size (`null`: none) into groups, which are one of each hierarchy. `raise` only makes them larger:
 * a server that several endpoints share has the largest of their sizes. Returns what could not be limited.
 */
export const limitGroups = (
  groups: ReadonlyArray<string>,
  size: EndpointSize | null,
  how: "raise" | "set"
): ReadonlyArray<string> =>
  Object.entries(kinds).flatMap(([kind, files]) => {
    const found = groups.flatMap((group) => files.map((it) => ({ ...it, path: join(group, it.file) })))
    const limit = found.find(({ path }) => existsSync(path))
    if (limit === undefined) return size === null ? [] : [kind]
    const { none, of, path, rest } = limit
    try {
      if (size === null) writeFileSync(path, `${none}${rest}`)
      else if (how === "set" || of(size) > held(path, none)) writeFileSync(path, `${of(size)}${rest}`)
      return []
    } catch {
      return [kind]
    }
  })

/**
 * The group of this process among those that limit memory in version 1, which has a hierarchy for each controller; `undefined`:
 * there is none, or it belongs to version 2.
 */
export const memoryGroupOfVersion1 = (mounts: string, groups: string): string | undefined => {
  const mount = mounts
    .split("\n")
    .map((line) => line.split(" "))
    .find(([, , type, options = ""]) => type === "cgroup" && options.split(",").includes("memory"))?.[1]
  const own = groups
    .split("\n")
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .find((parts) => parts?.[1]?.split(",").includes("memory"))?.[2]
  if (mount === undefined || own === undefined) return undefined
  // A container may show only a part of the hierarchy, whose root is its group.
  const group = join(mount, own)
  return existsSync(group) ? group : mount
}

/**
 * CPU control groups (cgroups(7), version 1 or 2) within one that the operator gives to the platform:
 *
 *     platform                 this process and what it starts
 *     person-<digest>          a tenant: the servers and copies of one person's organizations (`personGroups`)
 *       narthex-<digest>       a server, by the name of its cluster (`serverGroups`)
 *       copies                 the programs that copy branches (`copyGroups`)
 *     narthex-<digest>         a server of an unknown person
 *     copies                   programs that copy for an unknown person, and those that measure
 *
 * A group has its share of the CPU however many processes it has, and a process begins in the group of the one that has
 * started it. So the share of a person does not grow with their servers and sessions, and none has to be looked for.
 */
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { Context } from "effect"

/** What a person takes. */
export interface Demand {
  /** In cores, as of lately. */
  readonly cores: number
  /** What was wanted in the last look, in cores. */
  readonly wanted: number
  /** It is more than their part: their group yields. */
  readonly isHeavy: boolean
}

/** A person who has a group. */
export interface Person {
  demand: Demand
  /** How many copies are made for them. */
  copies: number
  /** When their demand was weighed last, in nanoseconds of the monotonic clock. */
  weighed: number | undefined
  /** In how many looks in a row something was started or copied for them. */
  looksAtWork: number
  /** What was last written for their group; `undefined`: nothing, or it is not known. */
  share: number | "idle" | undefined
}

export interface OpenCpuGroups {
  readonly directory: string
  readonly version: 1 | 2
  /** How many cores are divided. */
  readonly cores: number
  /** The directory of the group for programs that copy for an unknown person. */
  readonly copies: string
  /** That of the group of a server, by the name of its cluster. `groupOfServer` makes it. */
  readonly of: (cluster: string) => string
  /** The directory of the person's group, by the cluster of each server that works for a known one. */
  readonly homes: Map<string, string>
  /** The people who have a group, by its directory. */
  readonly people: Map<string, Person>
  /** The clusters whose servers start: users cannot connect yet. They are not busy. */
  readonly starting: Set<string>
  /** The clusters whose groups yield the CPU. */
  readonly busy: Set<string>
  /** The clusters on which the supervisor works, and how many times at once. They are not busy. */
  readonly attended: Map<string, number>
  /** The groups of servers that have ended, which the kernel does not let go yet. */
  readonly left: Set<string>
}

/** `undefined`: the operator gives no control group, and priorities alone have to do (`yieldingCpu`). */
export const CpuGroups = Context.Reference<OpenCpuGroups | undefined>("@narthex/local-postgres/CpuGroups", {
  defaultValue: () => undefined
})

/** The group for the programs that copy for the person whom the running fiber works for; `undefined`: one for everyone. */
export const CopyGroup = Context.Reference<string | undefined>("@narthex/local-postgres/CopyGroup", {
  defaultValue: () => undefined
})

/** The groups of a directory in which none is known. */
export const groupsIn = (directory: string, version: 1 | 2, cores = availableParallelism()): OpenCpuGroups => {
  const homes = new Map<string, string>()
  return {
    directory,
    version,
    cores,
    copies: join(directory, "copies"),
    of: (cluster) => join(homes.get(cluster) ?? directory, cluster),
    homes,
    people: new Map(),
    starting: new Set(),
    busy: new Set(),
    attended: new Map(),
    left: new Set()
  }
}

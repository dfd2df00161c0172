/**
 * The CPU control groups of people: the servers and copies of one person's organizations have a share together, so that a
 * person with many of them takes nothing from one with few (docs/design/proxy.md P41).
 *
 * One who takes more than a part of the cores yields to everyone else as a whole, starts and copies included. That part is
 * so small that those who do not yield want half of the cores together at most.
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync } from "node:fs"
import { basename, join } from "node:path"
import type { Demand, OpenCpuGroups, Person } from "./CpuGroups.ts"
import { divideGroup, removeGroup, setShare } from "./cpuGroupFiles.ts"

/** The cores that a person may take before their group yields, when so many people want the CPU. */
export const partOf = (cores: number, people: number): number => cores / (2 * Math.max(2, people))

/** How much of the demand is left with the next look. Half a second later it is a fifth less, unless it is more again. */
const kept = 0.8

/** `wanted`: since the last look. One who yields does so until they want half of what makes one yield. */
export const demandAfter = (before: Demand, wanted: number, part: number): Demand => {
  const cores = Math.max(wanted > part ? wanted : 0, kept * before.cores + (1 - kept) * wanted)
  return { cores, isHeavy: cores > (before.isHeavy ? part / 2 : part) }
}

/** A person who takes less than this, in cores, is not among those who want the CPU. */
const least = 0.02

/**
 * The share of a person when so many want the CPU, beside 400 of the platform. A person who does not yield has more than the
 * platform: they want little, and the platform works for everyone else as well.
 */
export const shareOfPerson = (people: number): number => Math.max(100, Math.min(800, Math.floor(1_600 / people)))

/** The share of a person who would yield, while the supervisor works on a server of theirs. */
const attendedShare = 50

/** The directory of a person's group. An id may contain anything. */
export const groupOfPerson = ({ directory }: OpenCpuGroups, person: string): string =>
  join(directory, `person-${createHash("sha256").update(person).digest("hex").slice(0, 32)}`)

export const isPerson = (group: string): boolean => /^person-[0-9a-f]{32}$/.test(basename(group))

/** Makes the group of a person, if there is none. */
export const enterPerson = (groups: OpenCpuGroups, home: string): Person => {
  const known = groups.people.get(home)
  if (known !== undefined && existsSync(home)) return known
  mkdirSync(home, { recursive: true })
  divideGroup(groups.version, home)
  const person: Person = known ?? { demand: { cores: 0, isHeavy: false }, copies: 0, share: undefined }
  person.share = undefined
  groups.people.set(home, person)
  return person
}

/** How many of the clusters work for each person, by the directory of their group. */
const counted = ({ homes }: OpenCpuGroups, clusters: Iterable<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const cluster of clusters) {
    const home = homes.get(cluster)
    if (home !== undefined) counts.set(home, (counts.get(home) ?? 0) + 1)
  }
  return counts
}

/** Starts and copies that are made now, by the directory of the person's group. */
const underWay = (groups: OpenCpuGroups): ReadonlyMap<string, number> => {
  const starts = counted(groups, groups.starting)
  return new Map([...groups.people].map(([home, { copies }]) => [home, copies + (starts.get(home) ?? 0)]))
}

/** Writes each person's share that has changed, and forgets those who have nothing here any more. */
export const divideAmongPeople = (groups: OpenCpuGroups): void => {
  const { attended, cores, homes, people, version } = groups
  const [works, servers, supervised] = [
    underWay(groups),
    counted(groups, homes.keys()),
    counted(groups, attended.keys())
  ]
  const wanting = [...people].filter(([home, { demand }]) => demand.cores > least || (works.get(home) ?? 0) > 0)
  const part = partOf(cores, wanting.length)
  for (const [home, person] of people) {
    const several = (works.get(home) ?? 0) - 1
    if (several > part) person.demand = { cores: Math.max(several, person.demand.cores), isHeavy: true }
    if (person.copies === 0 && !servers.has(home) && removeGroup(home)) people.delete(home)
  }
  const share = shareOfPerson(Math.max(1, wanting.filter(([, { demand }]) => !demand.isHeavy).length))
  for (const [home, person] of people) {
    const wanted = !person.demand.isHeavy ? share : supervised.has(home) ? attendedShare : "idle"
    if (person.share === wanted) continue
    try {
      setShare(version, home, wanted)
      person.share = wanted
    } catch {
      // The operator has removed it.
      person.share = undefined
    }
  }
}

/** Decides who yields. `ran`: the cores that a person's servers had since the last look, by the directory of their group. */
export const weighPeople = (groups: OpenCpuGroups, ran: ReadonlyMap<string, number>): void => {
  const { cores, people } = groups
  const works = underWay(groups)
  const wanted = new Map(
    [...people.keys()].map((home) => [home, (ran.get(home) ?? 0) + Math.max(0, (works.get(home) ?? 0) - 1)])
  )
  const part = partOf(cores, [...wanted.values()].filter((each) => each > least).length)
  for (const [home, person] of people) person.demand = demandAfter(person.demand, wanted.get(home) ?? 0, part)
  divideAmongPeople(groups)
}

/**
 * The CPU control groups of people: the servers and copies of one person's organizations have a share together, so that a
 * person with many of them takes nothing from one with few (docs/design/proxy.md P41).
 *
 * One who takes more than a part of the cores yields to everyone else as a whole, starts and copies included, and so does one
 * with a server that is busy. That part is so small that those who do not yield want half of the cores together at most.
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync } from "node:fs"
import { basename, join } from "node:path"
import { ComputeTenant } from "@narthex/core"
import { Effect } from "effect"
import { CpuGroups, type Demand, type OpenCpuGroups, type Person } from "./CpuGroups.ts"
import { divideGroup, removeGroup, setShare } from "./cpuGroupFiles.ts"

/** The cores that a person may take before their group yields, when so many people want the CPU. */
export const partOf = (cores: number, people: number): number => cores / (2 * Math.max(2, people))

/** The part of a demand that is left after half a second without any. */
const kept = 0.8

/**
 * `wanted`: the cores since the last look, which was so many seconds ago, or for the usual time. One who yields does so until
 * they want half of what makes one yield.
 *
 * Pitfall: yielding from one look above the part on. A start and a copy after it want so much for a moment, and one who wakes
 * and copies a branch now and then would yield to those who keep the machine busy.
 */
export const demandAfter = (before: Demand, wanted: number, part: number, seconds = 0.5): Demand => {
  const left = kept ** (2 * seconds)
  const inBoth = seconds <= 1 ? Math.min(wanted, before.wanted) : 0
  const lasts = wanted > 2 * part || inBoth > part
  const cores = Math.max(lasts ? wanted : 0, left * before.cores + (1 - left) * wanted)
  return { cores, wanted, isHeavy: cores > (before.isHeavy ? part / 2 : part) }
}

/** A person who takes less than this, in cores, is not among those who want the CPU. */
const least = 0.02

/** From this many looks in a row on, about three seconds, the first start or copy counts as a core as well. */
const longWork = 6

/**
 * The share of a person who does not yield, when so many of them want the CPU, beside 400 of the platform: at most 1,600
 * together, of up to 32. It changes rarely, because it is written for each of them. One or two have more than the platform: they
 * want little, and the platform works for everyone else as well.
 */
export const shareOfPerson = (people: number): number =>
  Math.max(50, 800 >> Math.max(0, Math.ceil(Math.log2(people)) - 1))

/** The share of a person who would yield, while the supervisor works on a server of theirs. */
const attendedShare = 50

/** How long a store may take to name a person. */
const answersWithin = "1 second"

/** The person whom the running call works for; `null`: it is not known in time, or nothing is divided. */
export const personOfCall = Effect.gen(function* () {
  if ((yield* CpuGroups) === undefined) return null
  const asked = yield* ComputeTenant
  return yield* Effect.timeoutOrElse(asked, { duration: answersWithin, orElse: () => Effect.succeed(null) })
})

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
  const person: Person = known ?? {
    demand: { cores: 0, wanted: 0, isHeavy: false },
    copies: 0,
    weighed: undefined,
    looksAtWork: 0,
    share: undefined
  }
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
  const { attended, busy, cores, homes, people, version } = groups
  const works = underWay(groups)
  const [servers, computing, supervised] = [homes.keys(), busy, attended.keys()].map((all) => counted(groups, all))
  const isWanting = ([home, { demand }]: readonly [string, Person]) =>
    demand.cores > least || (works.get(home) ?? 0) > 0
  const part = partOf(cores, [...people].filter(isWanting).length)
  for (const [home, person] of people) {
    const several = (works.get(home) ?? 0) - 1
    if (several < 0) person.looksAtWork = 0
    if (several > part)
      person.demand = { ...person.demand, cores: Math.max(several, person.demand.cores), isHeavy: true }
    // A heavy person stays known without servers: otherwise stopping and starting one would end that they yield.
    if (person.copies > 0 || person.demand.isHeavy || servers?.has(home)) continue
    removeGroup(join(home, "copies"))
    if (removeGroup(home) || !existsSync(home)) people.delete(home)
  }
  const yielding = (home: string, person: Person) => person.demand.isHeavy || computing?.has(home) === true
  const light = [...people].filter((each) => isWanting(each) && !yielding(...each)).length
  const share = shareOfPerson(Math.max(1, light))
  for (const [home, person] of people) {
    const wanted = !yielding(home, person) ? share : supervised?.has(home) ? attendedShare : "idle"
    if (person.share === wanted) continue
    try {
      setShare(version, home, wanted)
      person.share = wanted
    } catch {
      // The operator has removed it, or nothing is in it any more.
      person.share = undefined
    }
  }
}

/**
 * Decides who yields, in a look at the monotonic time `at`, in nanoseconds. `wants`: the cores that a person's servers wanted
 * since the last one, by the directory of their group.
 */
export const weighPeople = (groups: OpenCpuGroups, wants: ReadonlyMap<string, number>, at: number): void => {
  const { cores, people } = groups
  const works = underWay(groups)
  const wanted = new Map<string, number>()
  for (const [home, person] of people) {
    const work = works.get(home) ?? 0
    person.looksAtWork = work > 0 ? person.looksAtWork + 1 : 0
    const counting = person.looksAtWork < longWork ? Math.max(0, work - 1) : work
    wanted.set(home, Math.min(cores, (wants.get(home) ?? 0) + counting))
  }
  const part = partOf(cores, [...wanted].filter(([home, all]) => all > least || (works.get(home) ?? 0) > 0).length)
  for (const [home, person] of people) {
    const seconds = person.weighed === undefined ? undefined : (at - person.weighed) / 1e9
    person.demand = demandAfter(person.demand, wanted.get(home) ?? 0, part, seconds)
    person.weighed = at
  }
  divideAmongPeople(groups)
}

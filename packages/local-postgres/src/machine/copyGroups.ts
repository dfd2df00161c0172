/** The CPU control groups of the programs that copy branches: one for each person, which is removed with that of the person. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { CopyGroup, CpuGroups, type OpenCpuGroups } from "./CpuGroups.ts"
import { setShare } from "./cpuGroupFiles.ts"
import { divideAmongPeople, enterPerson, groupOfPerson, personOfCall } from "./personGroups.ts"

/** Among a person's groups, what a server that starts has. */
const shareOfCopies = 400

/** Runs a copy in the group of the person that the call works for. */
export const copying = <A, E, R>(copy: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const groups = yield* CpuGroups
    if (groups === undefined) return yield* copy
    const person = yield* personOfCall
    if (person === null) return yield* copy
    const home = groupOfPerson(groups, person)
    return yield* Effect.acquireUseRelease(
      Effect.sync(() => beginCopy(groups, home)),
      (group) => Effect.provideService(copy, CopyGroup, group),
      (group) => Effect.sync(() => (group === undefined ? undefined : endCopy(groups, home)))
    )
  })

/** `undefined`: the group cannot be made, and the copy is made in that for everyone. */
const beginCopy = (groups: OpenCpuGroups, home: string): string | undefined => {
  const group = join(home, "copies")
  try {
    const person = enterPerson(groups, home)
    mkdirSync(group, { recursive: true })
    setShare(groups.version, group, shareOfCopies)
    person.copies++
    divideAmongPeople(groups)
    return group
  } catch {
    return undefined
  }
}

const endCopy = (groups: OpenCpuGroups, home: string): void => {
  const person = groups.people.get(home)
  if (person === undefined) return
  person.copies = Math.max(0, person.copies - 1)
  divideAmongPeople(groups)
}

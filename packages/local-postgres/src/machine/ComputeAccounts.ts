/**
 * The account of each branch's server, where this process is root: a uid of its own, which has no name and no other file. The owner
 * of the data directory is the record of it.
 *
 * Pitfall: the uid of a branch that was deleted. A file or a process that it has left would belong to another tenant, so a uid is
 * taken only if no data and no process have it.
 */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { attempt, LocalPostgresError } from "./LocalPostgresError.ts"
import type { Identity } from "./PostgresUser.ts"

/** The first and the last uid; a server's gid is its uid. */
export interface UidRange {
  readonly first: number
  readonly last: number
}

/** Beyond the users of a system and those of containers that Linux distributions assign. */
export const defaultUids: UidRange = { first: 2_000_000, last: 2_999_999 }

export const isIn = ({ first, last }: UidRange, { uid }: Identity): boolean => uid >= first && uid <= last

const ownerIfAny = (path: string) => statSync(path, { throwIfNoEntry: false })?.uid

/** The uids of all data in the directory of the branches, and of all processes. */
const taken = (branches: string): Set<number | undefined> => {
  const data = readdirSync(branches).flatMap((branch) => {
    const directory = join(branches, branch)
    return readdirSync(directory).map((name) => ownerIfAny(join(directory, name)))
  })
  const processes = readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) ? [ownerIfAny(join("/proc", name))] : []
  )
  return new Set([...data, ...processes])
}

/** The uids that this process has given out. Data get their owner only after they were copied. */
const given = new Set<number>()

/** A uid that nothing has, by the directory of the branches. */
export const unusedAccount = (branches: string, range: UidRange) =>
  Effect.flatMap(
    attempt(`Looking for an account in ${branches}`, async () => {
      const used = taken(branches)
      const size = range.last - range.first + 1
      const start = Math.floor(Math.random() * size)
      for (let n = 0; n < size; n++) {
        const uid = range.first + ((start + n) % size)
        if (used.has(uid) || given.has(uid)) continue
        given.add(uid)
        return uid
      }
      return undefined
    }),
    (uid) =>
      uid === undefined
        ? Effect.fail(
            new LocalPostgresError({
              operation: "Choosing the account of a branch",
              reason: `every uid from ${range.first} to ${range.last} is in use`
            })
          )
        : Effect.succeed({ uid, gid: uid } satisfies Identity)
  )

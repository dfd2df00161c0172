/**
 * How much disk each branch takes: the blocks of the files under its directory, with data that is being made or removed.
 *
 * One directory is read at a time, and a branch is read again only if its server runs or has run since: Postgres writes
 * `pg_control` at each shutdown, and new data have a new file.
 *
 * A branch that cannot be read, for example on a damaged part of the disk, is left out, and its last size applies.
 */
import { lstat, readdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { type BranchDiskUsage, BranchId } from "@narthex/core"
import { Effect, Option, Result } from "effect"
import type { Cluster } from "../cluster/Cluster.ts"
import { findPostmaster } from "../cluster/PostgresProcess.ts"
import { attempt, attemptToRead, type LocalPostgresFailure } from "../machine/LocalPostgresError.ts"

/** `lstat` counts blocks of this size, whatever the file system's own are (POSIX). */
const blockSize = 512

/** Files come and go while a server works on them: one that is gone takes no disk. */
const unlessGone = <A>(asked: Promise<A>): Promise<A | undefined> =>
  asked.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined
    throw error
  })

const bytesUnder = async (directory: string, signal: AbortSignal): Promise<number> => {
  let bytes = 0
  const waiting = [directory]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    signal.throwIfAborted()
    for (const entry of (await unlessGone(readdir(path, { withFileTypes: true }))) ?? []) {
      const inside = join(path, entry.name)
      bytes += ((await unlessGone(lstat(inside)))?.blocks ?? 0) * blockSize
      if (entry.isDirectory()) waiting.push(inside)
    }
  }
  return bytes
}

/** The state of data on which no server runs; `undefined` while one is being made or replaced. */
const versionOf = async (cluster: Cluster): Promise<string | undefined> => {
  const inside = await unlessGone(readdir(cluster.directory))
  if (inside === undefined || inside.includes("making") || inside.includes("former")) return undefined
  const control = await unlessGone(lstat(join(cluster.data, "global", "pg_control")))
  return control === undefined ? undefined : `${control.ino} ${control.mtimeMs}`
}

/** Measures clusters; keeps what it measured of those that do not run. */
export const makeDiskUsage = () => {
  const known = new Map<string, { readonly version: string; readonly bytes: number }>()

  const measure = Effect.fnUntraced(function* (cluster: Cluster) {
    const { directory } = cluster
    const runs = Option.isSome(yield* findPostmaster(cluster))
    const version = runs ? undefined : yield* attempt(`Looking at ${directory}`, () => versionOf(cluster))
    const former = known.get(directory)
    if (former !== undefined && former.version === version) return former.bytes
    const bytes = yield* attemptToRead(`Measuring ${directory}`, (signal) => bytesUnder(directory, signal))
    if (version === undefined) known.delete(directory)
    else known.set(directory, { version, bytes })
    return bytes
  })

  return (clusters: ReadonlyArray<Cluster>): Effect.Effect<ReadonlyArray<BranchDiskUsage>, LocalPostgresFailure> =>
    Effect.gen(function* () {
      const present = new Set(clusters.map(({ directory }) => directory))
      for (const directory of known.keys()) if (!present.has(directory)) known.delete(directory)
      const failures: Array<LocalPostgresFailure> = []
      const measured: Array<BranchDiskUsage> = []
      for (const cluster of clusters) {
        const bytes = yield* Effect.result(measure(cluster))
        if (Result.isFailure(bytes)) failures.push(bytes.failure)
        else measured.push({ branch_id: BranchId.make(basename(cluster.directory)), bytes: bytes.success })
      }
      const [first] = failures
      if (first === undefined) return measured
      if (measured.length === 0) return yield* first
      yield* Effect.logWarning(`${failures.length} branches could not be measured. ${first.message}`)
      return measured
    })
}

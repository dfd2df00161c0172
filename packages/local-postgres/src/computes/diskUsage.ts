/**
 * How much disk each branch takes: the blocks of the files under its directory, with data that is being made or removed.
 *
 * One branch is measured at a time, and again only if its server runs or has run since: Postgres writes
 * `pg_control` at each shutdown, and new data have a new file.
 *
 * A branch that cannot be read, for example on a damaged part of the disk, is left out, and its last size applies.
 */
import { lstat, readdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { type BranchDiskUsage, BranchId } from "@narthex/core"
import { Effect, Option, Result } from "effect"
import type { Cluster } from "../cluster/Cluster.ts"
import { isChanging } from "../cluster/ClusterData.ts"
import { findPostmaster } from "../cluster/PostgresProcess.ts"
import { attempt, LocalPostgresError, type LocalPostgresFailure } from "../machine/LocalPostgresError.ts"
import { runToAnyEnd } from "../machine/runProgram.ts"
import type { Ended } from "../machine/startingProcess.ts"
import { boundFiles } from "./boundFiles.ts"

/** The unit of `du -k`. */
const kibibyte = 1024

/** Files come and go while a server works on them: one that is gone takes no disk. */
const unlessGone = <A>(asked: Promise<A>): Promise<A | undefined> =>
  asked.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined
    throw error
  })

/**
 * The message of GNU's or BusyBox' `du` about a file that is gone. `du` counts the other files, and ends with code 1.
 *
 * Pitfall: accepting every message that ends so. After `fts_read failed` GNU's has counted a part or nothing.
 */
const gone = /^du: (cannot (access|read directory) '|\/).*: (No such file or directory|Not a directory)$/

type End = Pick<Exclude<Ended, { readonly failed: string }>, "code" | "err" | "out">

/** The bytes that a run of `du` has counted in a directory, 0 if that is gone; `undefined` if it could not read all. */
export const bytesIn = (directory: string, { code, err, out }: End): number | undefined => {
  const complaints = err.split("\n").filter((line) => line !== "")
  if (code !== 0 && !(code === 1 && complaints.every((line) => gone.test(line)))) return undefined
  const counted = /^(\d+)\s/.exec(out)?.[1]
  if (counted !== undefined) return Number(counted) * kibibyte
  const isGone = complaints.some((line) => line.includes(`${directory}'`) || line.startsWith(`du: ${directory}: `))
  return code === 1 && isGone ? 0 : undefined
}

/**
 * The size of a directory with everything in it. It yields the CPU to this process.
 *
 * Pitfall: a call of this process for each file. A branch has a thousand: beside a tenant with twenty servers, which are
 * measured each time, the event loop did little else for a second.
 */
const bytesUnder = Effect.fnUntraced(function* (directory: string) {
  const ended = yield* runToAnyEnd("du", ["-skH", "--", directory], { background: true })
  const reason = `it ended with ${ended.signal ?? `code ${ended.code}`}. ${ended.err.trim()}`
  return bytesIn(directory, ended) ?? (yield* new LocalPostgresError({ operation: `Measuring ${directory}`, reason }))
})

/** The state of data on which no server runs; `undefined` while one is being made or replaced. */
const versionOf = async (cluster: Cluster): Promise<string | undefined> => {
  const inside = await unlessGone(readdir(cluster.directory))
  if (inside === undefined || isChanging(inside)) return undefined
  const control = await unlessGone(lstat(join(cluster.data, "global", "pg_control")))
  return control === undefined ? undefined : `${control.ino} ${control.mtimeMs}`
}

/** Measures clusters, and bounds what running servers write besides data; keeps what it measured of those that do not run. */
export const makeDiskUsage = () => {
  const known = new Map<string, { readonly version: string; readonly bytes: number }>()

  const measure = Effect.fnUntraced(function* (cluster: Cluster) {
    const { directory } = cluster
    const runs = Option.isSome(yield* findPostmaster(cluster))
    if (runs) yield* Effect.catch(boundFiles(cluster), (error) => Effect.logWarning(error.message))
    const version = runs ? undefined : yield* attempt(`Looking at ${directory}`, () => versionOf(cluster))
    const former = known.get(directory)
    if (former !== undefined && former.version === version) return former.bytes
    const bytes = yield* bytesUnder(directory)
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

/**
 * Installs, replaces and removes the data of a cluster, atomically.
 *
 *     making    new data, being written
 *     former    the earlier data, complete, while the new ones get their name
 *     removed   data that are being removed
 *
 * New data are built in `making` next to their place, synced and then renamed, because Postgres would trust a partial
 * copy. Data are removed under another name for the same reason. A killed process leaves a directory with one of these
 * names, which the next start of the process removes. If it was killed before the new data had their name, `former` gets
 * its name back instead. The caller ensures that no server runs on the data.
 *
 * A deletion that was killed in a version before 2026-11-27 has left a part of the data as `former`, and that gets the name
 * back, too. The deletion is repeated after the start, and removes it.
 */
import { lstatSync } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { attempt } from "../machine/LocalPostgresError.ts"
import { runProgram } from "../machine/runProgram.ts"
import { type Cluster, majorOf, makeClusterDirectory } from "./Cluster.ts"

const besides = { making: "making", former: "former", removed: "removed" } as const

const makingOf = (cluster: Cluster) => join(cluster.directory, besides.making)
const formerOf = (cluster: Cluster) => join(cluster.directory, besides.former)
const removedOf = (cluster: Cluster) => join(cluster.directory, besides.removed)

/** Whether data are being made, replaced or removed, by the names in the directory of their cluster. */
export const isChanging = (names: ReadonlyArray<string>) => Object.values(besides).some((name) => names.includes(name))

/** A rename is durable once its directory is synced. */
const syncDirectory = async (path: string) => {
  const directory = await open(path, "r")
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/**
 * Gives the new data their name, and the earlier ones another.
 *
 * Pitfall: two effects. An interruption between them leaves a branch without data, which was not reset.
 */
const name = async (cluster: Cluster, replaces: boolean) => {
  if (replaces) await rename(cluster.data, formerOf(cluster))
  try {
    await rename(makingOf(cluster), cluster.data)
  } catch (cause) {
    if (replaces) await rename(formerOf(cluster), cluster.data)
    throw cause
  }
}

const remove = (path: string) => attempt(`Removing ${path}`, () => rm(path, { recursive: true, force: true }))

/**
 * Pitfall: taking every error for an absence. A disk that fails for a moment would have the data replaced by empty ones.
 */
const exists = (path: string) =>
  attempt(`Looking at ${path}`, async () => lstatSync(path, { throwIfNoEntry: false }) !== undefined)

export const hasData = (cluster: Cluster) => exists(cluster.data)

/** Removes complete data, so that no part of them is ever seen under the name they had. */
const discard = Effect.fnUntraced(function* (cluster: Cluster, path: string) {
  if (!(yield* exists(path))) return
  const removed = removedOf(cluster)
  yield* remove(removed)
  yield* attempt(`Renaming ${path}`, () => rename(path, removed))
  yield* remove(removed)
})

/** Undoes what an interrupted call has left, or ends it: the cluster has all of its earlier data, all of the new, or none. */
export const sweepData = Effect.fnUntraced(function* (cluster: Cluster) {
  const former = formerOf(cluster)
  yield* remove(removedOf(cluster))
  yield* remove(makingOf(cluster))
  if (!(yield* exists(former))) return
  if (yield* hasData(cluster)) return yield* discard(cluster, former)
  yield* attempt(`Naming ${cluster.data}`, () => rename(former, cluster.data))
  yield* Effect.logWarning(
    `${cluster.data} has its earlier data again. The process ended before the new ones had the name.`
  )
})

/**
 * Installs the data that `make` writes to the given path. Earlier data are removed once the new data are complete. New data
 * that do not get their name are removed: a creation that is cancelled again and again would fill the disk.
 * `confirm` fails when the data are no longer wanted; it runs last before they get their name.
 */
export const putData = <E, R, E2 = never, R2 = never>(
  cluster: Cluster,
  make: (making: string) => Effect.Effect<void, E, R>,
  confirm: Effect.Effect<void, E2, R2>
) =>
  Effect.gen(function* () {
    const making = makingOf(cluster)
    yield* makeClusterDirectory(cluster)
    yield* sweepData(cluster)
    const install = Effect.gen(function* () {
      yield* make(making)
      yield* majorOf(making)
      yield* runProgram("sync", ["-f", making])
      yield* confirm
      const replaces = yield* hasData(cluster)
      yield* attempt(`Naming ${cluster.data}`, () => name(cluster, replaces))
    })
    const clear = Effect.catch(remove(making), (error) => Effect.logWarning(error.message))
    yield* Effect.onError(install, () => clear)
    yield* attempt(`Syncing ${cluster.directory}`, () => syncDirectory(cluster.directory))
    yield* discard(cluster, formerOf(cluster))
  })

/** Removes the data, then the cluster's directory. Former data go first: a start would restore them. */
export const removeData = Effect.fnUntraced(function* (cluster: Cluster) {
  yield* discard(cluster, formerOf(cluster))
  yield* discard(cluster, cluster.data)
  yield* remove(cluster.directory)
})

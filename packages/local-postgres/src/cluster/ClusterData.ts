/**
 * Installs, replaces and removes the data of a cluster, atomically.
 *
 * New data are built in `making` next to their place, synced and then renamed, because Postgres would trust a partial
 * copy. Old data are removed by renaming them first. A killed process leaves a directory with one of these names, and
 * the next call (or start) removes it. The caller ensures that no server runs on the data.
 */
import { lstatSync } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { attempt } from "../machine/LocalPostgresError.ts"
import { runProgram } from "../machine/runProgram.ts"
import { type Cluster, majorOf, makeClusterDirectory } from "./Cluster.ts"

const makingOf = (cluster: Cluster) => join(cluster.directory, "making")
const formerOf = (cluster: Cluster) => join(cluster.directory, "former")

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
 * Pitfall: two calls. An interruption between them leaves a branch without data, which was not reset.
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

export const hasData = (cluster: Cluster) =>
  Effect.map(Effect.option(attempt(`Looking at ${cluster.data}`, async () => lstatSync(cluster.data))), Option.isSome)

/** Removes what an interrupted call has left. */
export const sweepData = (cluster: Cluster) => Effect.andThen(remove(makingOf(cluster)), remove(formerOf(cluster)))

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
    yield* remove(formerOf(cluster))
  })

/** Removes the data, then the cluster's directory. */
export const removeData = Effect.fnUntraced(function* (cluster: Cluster) {
  if (yield* hasData(cluster)) {
    yield* remove(formerOf(cluster))
    yield* attempt("Removing data", () => rename(cluster.data, formerOf(cluster)))
  }
  yield* remove(cluster.directory)
})

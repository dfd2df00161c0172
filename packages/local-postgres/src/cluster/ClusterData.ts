/**
 * Puts data into a cluster's place, takes them out, replaces them: whole or not at all.
 *
 * New data grow as `making` beside their place, reach the disk and are then renamed, for Postgres trusts files that
 * it did not write; old data leave their place by a rename too. A process that was killed in between leaves a stray
 * of one of these names, and the next call (or start) sweeps it. The caller sees to it that nothing runs here.
 */
import { lstat, open, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { type Cluster, majorOf, makeClusterDirectory } from "./Cluster.ts"
import { runProgram } from "../machine/runProgram.ts"
import { attempt } from "../machine/LocalPostgresError.ts"

const makingOf = (cluster: Cluster) => join(cluster.directory, "making")
const formerOf = (cluster: Cluster) => join(cluster.directory, "former")

/** A rename is kept by its directory. */
const syncDirectory = async (path: string) => {
  const directory = await open(path, "r")
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

const remove = (path: string) => attempt(`Removing ${path}`, () => rm(path, { recursive: true, force: true }))

export const hasData = (cluster: Cluster) =>
  Effect.map(Effect.option(attempt("Looking", () => lstat(cluster.data))), (found) => found._tag === "Some")

/** Removes what an interrupted call left. */
export const sweepData = (cluster: Cluster) => Effect.andThen(remove(makingOf(cluster)), remove(formerOf(cluster)))

/** `make` fills the directory that it is given; what was there before goes once the new is whole. */
export const putData = <E, R>(cluster: Cluster, make: (making: string) => Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const making = makingOf(cluster)
    yield* makeClusterDirectory(cluster)
    yield* sweepData(cluster)
    yield* make(making)
    yield* majorOf(making)
    yield* runProgram("sync", ["-f", making])
    if (yield* hasData(cluster)) yield* attempt("Replacing data", () => rename(cluster.data, formerOf(cluster)))
    yield* attempt(`Naming ${cluster.data}`, () => rename(making, cluster.data))
    yield* attempt(`Keeping ${cluster.directory}`, () => syncDirectory(cluster.directory))
    yield* remove(formerOf(cluster))
  })

export const removeData = Effect.fnUntraced(function* (cluster: Cluster) {
  if (yield* hasData(cluster)) {
    yield* remove(formerOf(cluster))
    yield* attempt("Removing data", () => rename(cluster.data, formerOf(cluster)))
  }
  yield* remove(cluster.directory)
})

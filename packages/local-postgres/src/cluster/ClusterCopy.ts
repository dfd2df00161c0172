/**
 * Copies the data of a cluster: the files of a stopped one, a backup of a running one.
 *
 * The backup uses Postgres's low-level API (`pg_backup_start`, `pg_backup_stop`): the files are copied while they
 * change, and the WAL of that time repairs the copy at its first start.
 *
 * Pitfall: copying without retaining the WAL. A checkpoint during the copy may recycle it, so a temporary slot of the
 * same session retains it.
 * Pitfall: leaving out `backup_label`. Without it a torn copy starts and is silently corrupt.
 */
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { chown, copyFile, mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Array as Arrays, Effect } from "effect"
import { attempt, LocalPostgresError } from "../machine/LocalPostgresError.ts"
import { ownerOf, type PostgresUser } from "../machine/PostgresUser.ts"
import { runProgram } from "../machine/runProgram.ts"
import { asSupervisor } from "./asSupervisor.ts"
import type { Cluster } from "./Cluster.ts"

/** Copies a data directory that no server uses. It yields the CPU to this process, as every copy of a branch does. */
export const copyStopped = Effect.fn("copyStopped")(function* (data: string, copy: string) {
  yield* runProgram("cp", ["-a", "--reflink=auto", data, copy], { background: true })
  yield* attempt(`Clearing ${copy}`, async () => {
    for (const name of ["postmaster.pid", "postmaster.opts"]) await rm(join(copy, name), { force: true })
  })
})

/** Files that one program copies: their paths fit into its arguments. An ordinary branch has about a thousand. */
const filesAtOnce = 2_000

/** How often a program runs that met a file which Postgres was replacing. */
const tries = 3

/**
 * What `cp` prints of a file that it was to read and that is gone.
 *
 * Pitfall: accepting every missing path. A directory that is not there to copy to would lose its files silently.
 */
const vanished = /^cp: cannot (stat|open) '.*'( for reading)?: No such file or directory$/

/**
 * Copies files, named by their paths within `from`, to the same paths within `to`. Files that Postgres has removed since
 * they were listed are left out.
 *
 * Pitfall: a call of this process for each file. A cluster has a thousand, each call waits for a turn of the event loop,
 * and beside a tenant who keeps it busy a copy of a second took 44. Starting a program has its cost too, which grows with
 * the memory of this process.
 */
export const copyInto = (
  from: string,
  to: string,
  paths: ReadonlyArray<string>,
  left = tries
): Effect.Effect<void, LocalPostgresError> =>
  runProgram("cp", ["-a", "--reflink=auto", "--parents", "-t", to, "--", ...paths], { from, background: true }).pipe(
    Effect.asVoid,
    Effect.catch((error) => {
      const lines = (error.printed ?? "").trim().split("\n")
      if (lines.every((line) => vanished.test(line))) return Effect.void
      return left > 1 ? copyInto(from, to, paths, left - 1) : Effect.fail(error)
    })
  )

/** Copies a running cluster; the copy has the data as of the end of the backup. */
export const copyRunning = Effect.fn("copyRunning")(function* (source: Cluster, copy: string, user: PostgresUser) {
  const owner = yield* ownerOf(source.data, user)
  const own = async (path: string) => {
    if (user.drops) await chown(path, owner.uid, owner.gid)
  }
  const copyOne = (path: string) =>
    attempt(`Copying ${path}`, async () => {
      const to = join(copy, path)
      try {
        await copyFile(join(source.data, path), to, constants.COPYFILE_FICLONE)
      } catch (cause) {
        if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return // dropped since
        throw cause
      }
      await own(to)
    })
  const makeOne = async (path: string) => {
    await mkdir(join(copy, path), { mode: 0o700 })
    await own(join(copy, path))
  }

  yield* asSupervisor(source, "postgres", (sql) =>
    Effect.gen(function* () {
      const slot = `copy_${randomUUID().replaceAll("-", "")}`
      yield* sql`SELECT slot_name::text FROM pg_create_physical_replication_slot(${slot}, true, true)`
      yield* sql`SELECT pg_backup_start(${slot}, true)::text`
      const tree = yield* attempt(`Listing ${source.data}`, () => listTree(source.data))
      yield* attempt(`Making the directories of ${copy}`, () => eachLevel(["", ...tree.directories], makeOne))
      for (const part of Arrays.chunksOf(tree.files, filesAtOnce)) yield* copyInto(source.data, copy, part)
      yield* copyOne(control) // last, because it must not be older than the other files
      const label = yield* sql<{ labelfile: string; first: string; last: string }>`
        WITH ended AS (SELECT * FROM pg_backup_stop(false)),
             slot AS (SELECT restart_lsn FROM pg_replication_slots WHERE slot_name = ${slot})
        SELECT labelfile, pg_walfile_name(restart_lsn) AS first, pg_walfile_name(lsn) AS last FROM ended, slot`
      const [ended] = label
      if (ended === undefined) {
        return yield* new LocalPostgresError({ operation: "Ending a backup", reason: "Postgres returned no label" })
      }
      yield* attempt("Writing backup_label", async () => {
        await writeFile(join(copy, "backup_label"), ended.labelfile, { flag: "wx", mode: 0o600 })
        await own(join(copy, "backup_label"))
      })
      const wal = yield* attempt("Listing the WAL", () => readdir(join(source.data, "pg_wal")))
      const needed = wal.filter(
        (name) => isHistory(name) || (isSegment(name) && name >= ended.first && name <= ended.last)
      )
      yield* Effect.forEach(needed, (name) => copyOne(join("pg_wal", name)), { discard: true })
    })
  )
})

const control = "global/pg_control"
const isSegment = (name: string) => /^[0-9A-F]{24}$/.test(name)
const isHistory = (name: string) => name.endsWith(".history")

/** Directories whose contents belong to the running server and not to the data: they are copied empty. */
const emptied = new Set(
  ["dynshmem", "notify", "replslot", "serial", "snapshots", "stat_tmp", "subtrans"].map((name) => `pg_${name}`)
)

const isLeftOut = (name: string) =>
  /^(postmaster\.(pid|opts)|backup_label.*|backup_manifest|tablespace_map|pg_internal\.init.*|pgsql_tmp.*|.*\.making)$/.test(
    name
  )

/** The directories and files to copy, as paths within the data directory. */
const listTree = async (data: string) => {
  const directories: Array<string> = []
  const files: Array<string> = []
  const visit = async (within: string): Promise<void> => {
    const inside: Array<Promise<void>> = []
    for (const entry of await readdir(join(data, within), { withFileTypes: true })) {
      const path = join(within, entry.name)
      if (isLeftOut(entry.name) || path === control) continue
      if (entry.isDirectory()) {
        directories.push(path)
        if (!emptied.has(path)) inside.push(visit(path))
      } else if (entry.isFile() && within !== "pg_wal") {
        files.push(path)
      }
    }
    await Promise.all(inside)
  }
  await visit("")
  return { directories, files }
}

/** Runs a call for each directory, those of one depth together, parents before their children. All have ended then. */
const eachLevel = async (paths: ReadonlyArray<string>, call: (path: string) => Promise<void>) => {
  const levels = Object.groupBy(paths, (path) => (path === "" ? 0 : path.split("/").length))
  for (const level of Object.values(levels)) {
    const made = await Promise.allSettled((level ?? []).map(call))
    for (const outcome of made) if (outcome.status === "rejected") throw outcome.reason
  }
}

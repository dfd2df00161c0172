/**
 * Copies the data of a running cluster with Postgres's low-level API (`pg_backup_start`, `pg_backup_stop`): the files are
 * copied while they change, and the WAL of that time repairs the copy at its first start.
 *
 * Pitfall: copying without the whole WAL of the backup. A checkpoint during the copy may recycle it: a temporary slot of the
 * same session retains it, or the copy is repeated with a slot if a segment is gone.
 * Pitfall: a slot for each copy. From its creation to its end Postgres syncs its files about fourteen times, each of these
 * waits for the journal of the file system, and on a busy machine one of them waited for a third of a second.
 * Pitfall: leaving out `backup_label`. Without it a torn copy starts and is silently corrupt.
 */
import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { chown, copyFile, mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Array as Arrays, Data, Effect } from "effect"
import { attempt, LocalPostgresError } from "../machine/LocalPostgresError.ts"
import { ownerOf, type PostgresUser } from "../machine/PostgresUser.ts"
import { asSupervisor } from "./asSupervisor.ts"
import type { Cluster } from "./Cluster.ts"
import { copyInto } from "./ClusterCopy.ts"
import { walSegments } from "./walSegments.ts"

/** Part of the WAL of a backup was recycled before it was copied. */
class WalRecycled extends Data.TaggedError("WalRecycled")<{ readonly segment: string }> {}

export interface Backup {
  readonly source: Cluster
  /** The directory that is made. */
  readonly copy: string
  readonly user: PostgresUser
  /** Whether a slot retains the WAL from the beginning. */
  readonly slot: boolean
  /** How files are copied: tests change the cluster during the copy. */
  readonly copying?: typeof copyInto
}

/**
 * Copies a running cluster; the copy has the data as of the end of the backup. Without a slot the WAL is kept for a moment
 * (`wal_keep_size`), which is enough for a small cluster; if it was not, the copy is repeated with a slot.
 */
export const copyRunning = Effect.fn("copyRunning")(function* (backup: Backup) {
  const repeated = Effect.fnUntraced(function* ({ segment }: WalRecycled) {
    yield* Effect.logInfo(
      `The WAL segment ${segment} was recycled while ${backup.source.data} was copied. It is copied again, with a slot.`
    )
    yield* attempt(`Clearing ${backup.copy}`, () => rm(backup.copy, { recursive: true, force: true }))
    yield* backUp({ ...backup, slot: true })
  })
  const tried = backup.slot ? backUp(backup) : Effect.catchTag(backUp(backup), "WalRecycled", repeated)
  yield* Effect.catchTag(
    tried,
    "WalRecycled",
    ({ segment }) => new LocalPostgresError({ operation: "Copying the WAL", reason: `${segment} is gone` })
  )
})

/** Files that one program copies: their paths fit into its arguments. An ordinary branch has about a thousand. */
const filesAtOnce = 2_000

const backUp = Effect.fnUntraced(function* ({ copy, copying = copyInto, slot, source, user }: Backup) {
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
      const label = `copy_${randomUUID().replaceAll("-", "")}`
      if (slot) yield* sql`SELECT slot_name::text FROM pg_create_physical_replication_slot(${label}, true, true)`
      const [begun] = yield* sql<{ at: string }>`SELECT pg_backup_start(${label}, true)::text AS at`
      const tree = yield* attempt(`Listing ${source.data}`, () => listTree(source.data))
      yield* attempt(`Making the directories of ${copy}`, () => eachLevel(["", ...tree.directories], makeOne))
      for (const part of Arrays.chunksOf(tree.files, filesAtOnce)) yield* copying(source.data, copy, part)
      yield* copyOne(control) // last, because it must not be older than the other files
      const [ended] = yield* sql<{ labelfile: string; last: string; size: number }>`
        SELECT labelfile, lsn::text AS last, pg_size_bytes(current_setting('wal_segment_size'))::int AS size
        FROM pg_backup_stop(false)`
      const timeline = Number(/^START TIMELINE: (\d+)$/m.exec(ended?.labelfile ?? "")?.[1])
      const needed = walSegments({ timeline, first: begun?.at ?? "", last: ended?.last ?? "", size: ended?.size ?? 0 })
      if (ended === undefined || needed === undefined) {
        const reason = `Postgres returned no label, or no place in the WAL: ${begun?.at} to ${ended?.last}`
        return yield* new LocalPostgresError({ operation: "Ending a backup", reason })
      }
      yield* attempt("Writing backup_label", async () => {
        await writeFile(join(copy, "backup_label"), ended.labelfile, { flag: "wx", mode: 0o600 })
        await own(join(copy, "backup_label"))
      })
      const wal = yield* attempt("Listing the WAL", () => readdir(join(source.data, "pg_wal")))
      const histories = wal.filter((name) => name.endsWith(".history"))
      yield* Effect.forEach([...histories, ...needed], (name) => copyOne(join("pg_wal", name)), { discard: true })
      // Postgres renames a segment before it writes another into it: what still has its name was copied whole. A reset of the
      // parent stops its server before it replaces the directory: then this query fails.
      const left = new Set((yield* sql<{ name: string }>`SELECT name FROM pg_ls_waldir()`).map(({ name }) => name))
      const segment = needed.find((name) => !left.has(name))
      if (segment !== undefined) return yield* new WalRecycled({ segment })
    })
  )
})

const control = "global/pg_control"

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

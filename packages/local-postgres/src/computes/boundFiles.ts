/**
 * Bounds the files other than data that sessions can make a server write: its log, and before Postgres 17 the queue of
 * notifications. While the server runs, they are bounded each time that the disk is measured.
 */
import { statSync } from "node:fs"
import { copyFile, readdir, stat, truncate } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { asSupervisor } from "../cluster/asSupervisor.ts"
import { type Cluster, majorOf, superuser } from "../cluster/Cluster.ts"
import { maxLogSize } from "../cluster/PostgresProcess.ts"
import { attempt } from "../machine/LocalPostgresError.ts"

/** Bytes. The queue has files of 256 kB. */
const mostNotifications = 64 * 1024 * 1024
/** The first version with `max_notify_queue_pages`. */
const boundedBySetting = 17

/** Keeps the last part of a large log. The server appends, so it goes on at the new end. */
const boundLog = (cluster: Cluster) =>
  attempt(`Bounding ${cluster.log}`, async () => {
    const size = statSync(cluster.log, { throwIfNoEntry: false })?.size ?? 0
    if (size < maxLogSize) return
    await copyFile(cluster.log, `${cluster.log}.1`)
    await truncate(cluster.log)
  })

const notifications = (cluster: Cluster) =>
  attempt(`Looking at the notifications of ${cluster.directory}`, async () => {
    const directory = join(cluster.data, "pg_notify")
    const files = await readdir(directory)
    const sizes = await Promise.all(files.map(async (file) => (await stat(join(directory, file))).size))
    return sizes.reduce((sum, size) => sum + size, 0)
  })

/** Ends sessions that listen and have a transaction open: the queue keeps all notifications that they have not read. */
const endListeners = (cluster: Cluster) =>
  asSupervisor(
    cluster,
    "postgres",
    (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE usename <> ${superuser} AND xact_start < clock_timestamp() - interval '5 seconds'`
  )

/** Bounds the files of a running server. */
export const boundFiles = Effect.fn("boundFiles")(function* (cluster: Cluster) {
  yield* boundLog(cluster)
  if ((yield* majorOf(cluster.data)) >= boundedBySetting || (yield* notifications(cluster)) < mostNotifications) return
  yield* Effect.logWarning(`Sessions of ${cluster.directory} hold up its notifications. They are ended.`)
  yield* endListeners(cluster)
})

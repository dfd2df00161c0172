/**
 * A cluster: its files, the name of its processes, and its configuration.
 *
 *     <directory>/              supervisor, 0711: the server passes through it to `../run`
 *     <directory>/data/         server, 0700: what Postgres calls the data directory
 *     <directory>/run/          server, 0700: the Unix socket, the only way to connect
 *     <directory>/postgres.log  supervisor, 0600
 *     <directory>/supervisor.secret  supervisor, 0600: see `SupervisorSecret`
 *
 * The server's user may be unable to enter the directories above, so it never gets an absolute path: see
 * `PostgresProcess`. The configuration is checked, and written where it differs, before every start, so a cluster's
 * behaviour depends on this file alone.
 */
import { createHash } from "node:crypto"
import { lstatSync } from "node:fs"
import { chmod, chown, mkdir, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { attempt, LocalPostgresError } from "../machine/LocalPostgresError.ts"
import type { Identity, PostgresUser } from "../machine/PostgresUser.ts"
import { startOfFile } from "../machine/startOfFile.ts"

/** The bootstrap superuser. Only the supervisor can log in as it (`SupervisorSecret`). */
export const superuser = "narthex"

export const port = 5432
export const socketName = `.s.PGSQL.${port}`

export type Purpose = "store" | "compute"

export interface Cluster {
  readonly directory: string
  readonly data: string
  readonly run: string
  readonly log: string
  /** Part of the command line of each of its processes; identifies a postmaster that an earlier process started. */
  readonly name: string
  readonly purpose: Purpose
}

/** `directory` must be a real path, because the name is derived from it. */
export const clusterAt = (directory: string, purpose: Purpose): Cluster => ({
  directory,
  data: join(directory, "data"),
  run: join(directory, "run"),
  log: join(directory, "postgres.log"),
  name: `narthex-${createHash("sha256").update(directory).digest("hex").slice(0, 32)}`,
  purpose
})

/** Creates the cluster's directory. The mode is set again, because a strict umask would deny the server access. */
export const makeClusterDirectory = (cluster: Cluster) =>
  attempt(`Making ${cluster.directory}`, async () => {
    await mkdir(cluster.directory, { recursive: true, mode: 0o711 })
    await chmod(cluster.directory, 0o711)
  })

/** The major version of the data, from its PG_VERSION. */
export const majorOf = Effect.fnUntraced(function* (data: string) {
  const file = join(data, "PG_VERSION")
  const text = yield* attempt(`Reading the version of ${data}`, async () => startOfFile(file, 64).toString("utf8"))
  const major = Number(text.trim())
  if (Number.isInteger(major)) return major
  return yield* new LocalPostgresError({
    operation: `Reading the version of ${data}`,
    reason: `PG_VERSION is ${text.trim()}`
  })
})

/** Whether something is as `writeConfiguration` makes it. A file is read only if it belongs to the server's user alone. */
const isKept = (path: string, wanted: "directory" | string, { uid }: Identity) => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  const ownerOnly = wanted === "directory" ? 0o700 : 0o600
  if (found === undefined || found.uid !== uid || (found.mode & 0o777) !== ownerOnly) return false
  if (wanted === "directory") return found.isDirectory()
  return found.isFile() && startOfFile(path, Buffer.byteLength(wanted) + 1).toString("utf8") === wanted
}

/**
 * Writes what is not there yet: almost every start finds the files of the one before, and a rename waits for the journal of
 * the file system.
 */
export const writeConfiguration = (cluster: Cluster, major: number, owner: Identity, user: PostgresUser) =>
  attempt(`Configuring ${cluster.directory}`, async () => {
    if (!isKept(cluster.run, "directory", owner)) {
      await mkdir(cluster.run, { recursive: true, mode: 0o700 })
      if (user.drops) await chown(cluster.run, owner.uid, owner.gid)
    }
    const files = {
      "postgresql.conf": settingsOf(cluster.purpose, major),
      "pg_hba.conf": accessOf(cluster.purpose),
      "pg_ident.conf": ""
    }
    const put = async (name: string, text: string) => {
      // The server may write here, so each file is created under another name and renamed, never written through a
      // link.
      const making = join(cluster.data, `${name}.making`)
      await rm(making, { force: true })
      await writeFile(making, text, { flag: "wx", mode: 0o600 })
      if (user.drops) await chown(making, owner.uid, owner.gid)
      await rename(making, join(cluster.data, name))
    }
    const missing = Object.entries(files).filter(([name, text]) => !isKept(join(cluster.data, name), text, owner))
    const written = await Promise.allSettled(missing.map(([name, text]) => put(name, text)))
    for (const outcome of written) if (outcome.status === "rejected") throw outcome.reason
  })

/**
 * The first match decides. Minted roles can connect to the database `postgres` only, and none can replicate. No account is trusted:
 * reaching the socket proves nothing, because the proxy does so for its clients.
 */
const accessOf = (purpose: Purpose) => {
  const supervisor = `local all ${superuser} scram-sha-256\n`
  return purpose === "store" ? supervisor : `${supervisor}local postgres all scram-sha-256\n`
}

const settingsOf = (purpose: Purpose, major: number) => {
  const settings = { ...common, ...(purpose === "store" ? forStore : forCompute(major)) }
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join("")
}

const common = {
  listen_addresses: "",
  unix_socket_directories: "../run",
  unix_socket_permissions: "0700",
  password_encryption: "scram-sha-256",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  // The backup of a running branch needs this WAL level.
  wal_level: "replica",
  max_wal_senders: "0",
  // Prepared transactions would hold locks without a session that can be ended.
  max_prepared_transactions: "0",
  max_logical_replication_workers: "0",
  huge_pages: "off",
  jit: "off",
  log_line_prefix: "%m [%p] ",
  log_timezone: "UTC",
  timezone: "UTC",
  datestyle: "iso, mdy",
  lc_messages: "C",
  default_text_search_config: "pg_catalog.english"
}

const forStore = {
  max_connections: "100",
  max_replication_slots: "0",
  shared_buffers: "128MB",
  max_wal_size: "1GB",
  min_wal_size: "80MB"
}

const forCompute = (major: number) => ({
  shared_buffers: "16MB",
  max_wal_size: "256MB",
  min_wal_size: "32MB",
  // Eight segments: a small branch is copied without a slot that retains the WAL, and each copy begins and ends a segment.
  wal_keep_size: "32MB",
  max_worker_processes: "4",
  max_parallel_workers: "2",
  // No role can change this level, and `raise log` is below it. An error that keeps a server from starting is FATAL.
  log_min_messages: "fatal",
  // How long a statement may go on after the proxy has cut its session.
  client_connection_check_interval: "1s",
  max_connections: "110",
  // For the supervisor: two sessions that apply roles, one for a copy, a few for questions. Users have the other 100.
  superuser_reserved_connections: "10",
  // Writers keep 60 of the users' connections, so all read-only roles together have 40. Postgres 16 added the setting.
  ...(major >= 16 ? { reserved_connections: "60" } : {}),
  // Until it authenticates, a connection takes a place from all others, the supervisor's included.
  authentication_timeout: "10s",
  // A session's sorts and hashes on disk. No role can raise it.
  temp_file_limit: "1GB",
  // One for each copy at a time of a running parent, with room for one that a killed copy left.
  max_replication_slots: "8",
  // 128 MB of notifications that a session with an open transaction holds up; the default is 8 GB of the disk.
  ...(major >= 17 ? { max_notify_queue_pages: "16384" } : {}),
  // Postgres 18 reads through worker processes by default, which cost an idle compute memory.
  ...(major >= 18 ? { io_method: "sync" } : {})
})

/**
 * The secret with which the supervisor logs in to a cluster: random, of this cluster alone, and readable by the supervisor alone.
 *
 *     <directory>/supervisor.secret    supervisor, 0600: an id, and the secret that belongs to it
 *     <directory>/data/supervisor.id   server, 0600: the id of the secret that these data have
 *
 * Data get a secret in Postgres' single-user mode, before they get their name (`settleData`). A start gives one to data whose id is
 * another one or that have none: those of versions that trusted the supervisor's account. The id is written last, so whatever ends in
 * between is repeated.
 *
 * Pitfall: running Postgres in single-user mode as a uid without a name. It looks its name up, as `initdb` does; the server does not.
 * Pitfall: deriving the secrets of all clusters from one. Breaking out of one cluster as the supervisor would yield
 * all.
 */
import { createHash, createHmac, randomBytes } from "node:crypto"
import { open, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { attempt } from "../machine/LocalPostgresError.ts"
import type { Machine } from "../machine/Machine.ts"
import type { Identity } from "../machine/PostgresUser.ts"
import { runProgram } from "../machine/runProgram.ts"
import { startOfFile } from "../machine/startOfFile.ts"
import { type Cluster, superuser } from "./Cluster.ts"

const secretFile = (cluster: Cluster) => join(cluster.directory, "supervisor.secret")
const idName = "supervisor.id"
const idFile = (cluster: Cluster) => join(cluster.data, idName)
const statementName = "supervisor.sql"

/** The id of a secret, and the secret: 128 and 256 random bits, as hexadecimal digits. */
const form = /^([0-9a-f]{32}) ([0-9a-f]{64})\n$/
const longest = 128

interface Kept {
  readonly id: string
  readonly secret: string
}

const readOf = (path: string): string => {
  try {
    return startOfFile(path, longest).toString("utf8")
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ELOOP")) return ""
    throw cause
  }
}

const kept = (cluster: Cluster): Kept | undefined => {
  const [, id, secret] = form.exec(readOf(secretFile(cluster))) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

/** The secret; `undefined` for a cluster that has not been started since it has one, whose server then asks for none. */
export const secretOf = (cluster: Cluster) =>
  attempt(`Reading the secret of ${cluster.directory}`, async () => {
    const secret = kept(cluster)?.secret
    return secret === undefined ? undefined : Redacted.make(secret, { label: "supervisor" })
  })

/** Whether the data have the secret that is kept. */
export const hasSecret = (cluster: Cluster) =>
  attempt(`Reading the secret of ${cluster.directory}`, async () => {
    const id = kept(cluster)?.id
    return id !== undefined && readOf(idFile(cluster)).trim() === id
  })

/**
 * The verifier of the secret, as Postgres stores it (RFC 5803). The secret's 256 random bits cannot be guessed, so one
 * iteration is enough: the supervisor logs in several times at each start.
 */
const verifierOf = (secret: string): string => {
  const salt = randomBytes(16)
  const block = Buffer.from([0, 0, 0, 1])
  const salted = createHmac("sha256", secret)
    .update(Buffer.concat([salt, block]))
    .digest()
  const keyed = (label: string) => createHmac("sha256", salted).update(label).digest()
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64")
  return `SCRAM-SHA-256$1:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`
}

/** Writes a file that is complete and on the disk once it has its name. `owner`: left out, that of this process. */
const put = async (path: string, text: string, owner?: Identity) => {
  const making = `${path}.making`
  await rm(making, { force: true })
  const file = await open(making, "wx", 0o600)
  try {
    await file.writeFile(text)
    if (owner !== undefined) await file.chown(owner.uid, owner.gid)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(making, path)
}

/** The data get another secret at the next start: the kept one is not theirs, as after a superuser has changed it. */
export const renewAtStart = (cluster: Cluster) =>
  attempt(`Removing ${idFile(cluster)}`, () => rm(idFile(cluster), { force: true }))

/** Runs a statement in single-user mode, which reads it from its input, and which no failure of a statement ends. */
const script =
  'out=$("$0" "$@" </proc/self/fd/3/supervisor.sql 2>&1) || { echo "$out" >&2; exit 1; }; ' +
  'case $out in *ERROR:*) echo "$out" >&2; exit 1;; esac'

const settings = ["log_min_error_statement=panic", "archive_mode=off"].flatMap((setting) => ["-c", setting])

/** Gives stopped data, which belong to `identity`, a new secret of the cluster. */
const giveSecret = Effect.fn("giveSecret")(function* (
  cluster: Cluster,
  data: string,
  { binaries }: Machine,
  identity: Identity | undefined
) {
  const made: Kept = { id: randomBytes(16).toString("hex"), secret: randomBytes(32).toString("hex") }
  const statement = join(data, statementName)
  yield* attempt(`Making the secret of ${cluster.directory}`, async () => {
    await put(secretFile(cluster), `${made.id} ${made.secret}\n`)
    await put(statement, `ALTER ROLE ${superuser} PASSWORD '${verifierOf(made.secret)}'\n`, identity)
  })
  const postgres = join(binaries.directory, "postgres")
  const args = ["--single", "-D", "/proc/self/fd/3", ...settings, "postgres"]
  yield* runProgram("sh", ["-c", script, postgres, ...args], { directory: data, identity, background: true })
  yield* attempt(`Naming the secret of ${cluster.directory}`, async () => {
    await rm(statement, { force: true })
    await put(join(data, idName), `${made.id}\n`, identity)
  })
})

const own = (data: string, { gid, uid }: Identity) =>
  runProgram("chown", ["-R", `${uid}:${gid}`, data], { background: true })

/**
 * Makes stopped data those of the cluster: with a secret that no other data have, and with their owner. `data` may be where they are
 * made, and may have another owner and the secret of a parent.
 */
export const settleData = Effect.fn("settleData")(function* (
  cluster: Cluster,
  data: string,
  machine: Machine,
  owner: Identity
) {
  const { drops, initdb } = machine.user
  if (!drops) return yield* giveSecret(cluster, data, machine, undefined)
  yield* own(data, initdb)
  yield* giveSecret(cluster, data, machine, initdb)
  yield* own(data, owner)
})

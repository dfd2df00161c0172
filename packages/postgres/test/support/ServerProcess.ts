/**
 * A separate Postgres server for one test file: a cluster on a Unix socket, ready in a few hundred milliseconds.
 *
 * `initdb` runs once per Postgres version and account; its result is kept between runs and copied afterwards.
 *
 * The server depends on a pipe of this process: when the process is killed, the pipe closes and the server stops too.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { chown, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { until, within } from "../../../../test/harness/eventually.ts"
import { cacheDirectory } from "../../../local-postgres/testing/cacheDirectory.ts"
import { type PostgresPrograms, postgresPrograms } from "../../../local-postgres/testing/postgresPrograms.ts"
import { scratchParent } from "../../../local-postgres/testing/scratchParent.ts"

const run = promisify(execFile)

type Account = PostgresPrograms["identity"]

const directoryOf = async (owner: Account): Promise<string> => {
  const directory = await mkdtemp(join(scratchParent(), "narthex-pg-"))
  if (owner !== undefined) await chown(directory, owner.uid, owner.gid)
  return directory
}

const initdb = [
  ...["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
  "--wal-segsize=4" // MB, a quarter of the default: every copy of the cluster has one
]

/** Roles of this group prove their passwords, as clients of a proxy must. */
export const provingGroup = "proving"
const access = `local all +${provingGroup} scram-sha-256\nlocal all all trust\n`

/**
 * Puts a fresh cluster in the cache. The first of several concurrent calls to rename wins, and the others remove their
 * clusters.
 */
const initialise = async (bin: string, owner: Account, template: string): Promise<void> => {
  const scratch = await directoryOf(owner)
  const staged = `${template}.${randomBytes(6).toString("hex")}`
  try {
    await run(`${bin}initdb`, ["-D", join(scratch, "data"), ...initdb], { ...owner, cwd: scratch })
    await writeFile(join(scratch, "data", "pg_hba.conf"), access)
    await run("cp", ["-a", join(scratch, "data"), staged])
    await rename(staged, template).catch(() => rm(staged, { recursive: true, force: true }))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** A directory with a fresh cluster. Copies keep their owner, so each owner has a template. */
const cluster = async (bin: string, owner: Account): Promise<string> => {
  const { stdout } = await run(`${bin}postgres`, ["--version"])
  const name = `${stdout.trim().replaceAll(/[^\w.]+/g, "-")}-${owner?.uid ?? "own"}-2`
  const template = join(await cacheDirectory("postgres"), name)
  const there = await stat(template).then(
    () => true,
    () => false
  )
  if (!there) await initialise(bin, owner, template)
  const directory = await directoryOf(owner)
  await run("cp", ["-a", "--reflink=auto", template, join(directory, "data")])
  return directory
}

/** Waits for a successful statement: during crash recovery the socket is open and the server still rejects clients. */
const ready = (data: string): Promise<boolean> =>
  readFile(join(data, "postmaster.pid"), "utf8").then(
    (status) => /^(ready|standby)/m.test(status),
    () => false
  )

/** `cat` ends when this process's end of the pipe closes, also after `kill -9`. */
const supervised = 'exec 3<&0; "$@" </dev/null & server=$!; (cat <&3 >/dev/null; kill -INT $server) & wait $server'

/** Milliseconds. Recovery after a crash replays what the test has written. */
const startLimit = 60_000

const start = async (bin: string, owner: Account, directory: string): Promise<ChildProcess> => {
  const settings = ["listen_addresses=", "fsync=off", "max_connections=200", "log_min_messages=panic"]
  const args = ["-D", join(directory, "data"), "-k", directory, ...settings.flatMap((setting) => ["-c", setting])]
  const server = spawn("sh", ["-c", supervised, "sh", `${bin}postgres`, ...args], {
    ...owner,
    cwd: directory,
    stdio: ["pipe", "ignore", "pipe"]
  })
  let said = ""
  server.stderr.on("data", (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2_000)
  })
  const isReady = async () => {
    if (server.exitCode !== null) throw new Error(`The test server ended with ${server.exitCode}: ${said.trim()}`)
    return ready(join(directory, "data"))
  }
  await until("the test server to accept connections", isReady, { limit: startLimit })
  return server
}

const ended = async (server: ChildProcess): Promise<void> => {
  if (server.exitCode === null && server.signalCode === null)
    await within("the test server to end", once(server, "exit"), startLimit)
}

const stop = async (server: ChildProcess | undefined): Promise<void> => {
  server?.stdin?.end()
  if (server !== undefined) await ended(server)
}

export class ServerProcess {
  readonly #bin: string
  readonly #owner: Account
  readonly #directory: string
  #server: ChildProcess | undefined

  private constructor(bin: string, owner: Account, directory: string) {
    this.#bin = bin
    this.#owner = owner
    this.#directory = directory
  }

  /** Resolves when it accepts connections. */
  static async start(): Promise<ServerProcess> {
    const { directory: programs, identity } = await postgresPrograms()
    const bin = `${programs}/`
    const made = new ServerProcess(bin, identity, await cluster(bin, identity))
    made.#server = await start(bin, identity, made.#directory)
    return made
  }

  /** The address of its database `postgres`. */
  get url(): string {
    return `postgresql:///postgres?host=${encodeURIComponent(this.#directory)}&user=postgres`
  }

  /** Stops it and removes its files. */
  async remove(): Promise<void> {
    await stop(this.#server)
    await rm(this.#directory, { recursive: true, force: true })
  }

  /** Kills every process of the server without a checkpoint and starts it again. */
  async crash(): Promise<void> {
    const server = this.#server
    const [pid] = (await readFile(join(this.#data, "postmaster.pid"), "utf8")).split("\n")
    process.kill(Number(pid), "SIGQUIT")
    // Without `stop`, which would ask for a shutdown with a checkpoint.
    if (server !== undefined) await ended(server)
    await stop(server)
    this.#server = await start(this.#bin, this.#owner, this.#directory)
  }

  /** The same, but it comes back as a promoted standby: on a new timeline, as after a failover or a restore. */
  async promote(): Promise<void> {
    const signal = join(this.#data, "standby.signal")
    await writeFile(signal, "")
    if (this.#owner !== undefined) await chown(signal, this.#owner.uid, this.#owner.gid)
    await this.crash()
    await this.#pgCtl("promote")
  }

  get #data(): string {
    return join(this.#directory, "data")
  }

  #pgCtl(...args: ReadonlyArray<string>) {
    return run(`${this.#bin}pg_ctl`, ["-D", this.#data, "-w", ...args], { ...this.#owner, cwd: this.#directory })
  }
}

/**
 * The server of a pod: a Postgres process on the pod's address, with the certificate of its cluster. It ends with this
 * process, also when that is killed.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chown, mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import postgres from "postgres"
import { until, within } from "../../../../../test/harness/eventually.ts"
import type { PostgresPrograms } from "../../../../local-postgres/testing/postgresPrograms.ts"
import type { KeyPair } from "./authority.ts"
import { postmasterOf } from "./Volumes.ts"

export interface PodServer {
  readonly volume: string
  readonly address: string
  readonly certificate: KeyPair
  readonly authority: string
  /** The parameters of the cluster's manifest. */
  readonly parameters: Readonly<Record<string, string>>
  /** Lines of `pg_hba.conf` of the manifest. */
  readonly access: ReadonlyArray<string>
  readonly programs: PostgresPrograms
}

/** Milliseconds. Recovery replays what the test has written. */
const startLimit = 60_000

/** `cat` ends when this process's end of the pipe closes. */
const supervised =
  'exec 3<&0; "$@" </dev/null & server=$!; (cat <&3 >/dev/null; kill -INT $server 2>/dev/null) & wait $server'

const quoted = (value: string) => `'${value.replaceAll("'", "''")}'`

const write = async (server: PodServer, path: string, text: string) => {
  const { identity } = server.programs
  await rm(path, { force: true })
  await writeFile(path, text, { mode: 0o600 })
  if (identity !== undefined) await chown(path, identity.uid, identity.gid)
}

/** The operator's rules surround those of the manifest. */
const accessOf = ({ access }: PodServer) =>
  [
    "local all postgres trust",
    "hostssl postgres streaming_replica all cert",
    "hostssl replication streaming_replica all cert",
    ...access,
    "host all all all scram-sha-256",
    ""
  ].join("\n")

const settingsOf = ({ address, parameters, volume }: PodServer) => {
  const fixed = {
    listen_addresses: address,
    port: "5432",
    unix_socket_directories: join(volume, "run"),
    ssl: "on",
    ssl_cert_file: join(volume, "tls/server.crt"),
    ssl_key_file: join(volume, "tls/server.key"),
    ssl_ca_file: join(volume, "tls/ca.crt"),
    password_encryption: "scram-sha-256",
    fsync: "off",
    restart_after_crash: "off",
    log_min_messages: "fatal"
  }
  return Object.entries({ wal_level: "logical", max_connections: "100", ...parameters, ...fixed })
    .map(([name, value]) => `${name} = ${quoted(value)}\n`)
    .join("")
}

export class PodPostgres {
  readonly #server: PodServer
  readonly #process: ChildProcess
  #said = ""

  private constructor(server: PodServer, process: ChildProcess) {
    this.#server = server
    this.#process = process
    process.stderr?.on("data", (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk}`.slice(-2_000)
    })
  }

  /** Spawns the server. It accepts connections later. */
  static async spawn(server: PodServer): Promise<PodPostgres> {
    const { authority, certificate, programs, volume } = server
    const data = join(volume, "data")
    for (const name of ["run", "tls"]) {
      await mkdir(join(volume, name), { recursive: true })
      if (programs.identity !== undefined) await chown(join(volume, name), programs.identity.uid, programs.identity.gid)
    }
    await write(server, join(volume, "tls/server.crt"), certificate.cert)
    await write(server, join(volume, "tls/server.key"), certificate.key)
    await write(server, join(volume, "tls/ca.crt"), authority)
    await write(server, join(data, "postgresql.conf"), settingsOf(server))
    await write(server, join(data, "pg_hba.conf"), accessOf(server))
    await rm(join(data, "postmaster.pid"), { force: true })
    const args = ["-c", supervised, "sh", join(programs.directory, "postgres"), "-D", data]
    const child = spawn("sh", args, { ...programs.identity, cwd: volume, stdio: ["pipe", "ignore", "pipe"] })
    return new PodPostgres(server, child)
  }

  get #data(): string {
    return join(this.#server.volume, "data")
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null
  }

  /** Resolves when it accepts connections. */
  async ready(): Promise<void> {
    const isReady = async () => {
      if (this.hasEnded) throw new Error(`The server of a pod ended: ${this.#said.trim()}`)
      const status = await readFile(join(this.#data, "postmaster.pid"), "utf8").catch(() => "")
      return /^ready/m.test(status)
    }
    await until("the server of a pod to accept connections", isReady, { limit: startLimit, every: 5 })
  }

  /** Runs statements as the superuser, through the socket that only the pod has. */
  async execute(...statements: ReadonlyArray<string>): Promise<void> {
    const sql = postgres({
      host: join(this.#server.volume, "run"),
      username: "postgres",
      database: "postgres",
      max: 1,
      onnotice: () => undefined
    })
    try {
      for (const statement of statements) await sql.unsafe(statement)
    } finally {
      await sql.end()
    }
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    const pid = await postmasterOf(this.#data)
    if (pid !== undefined && !this.hasEnded) process.kill(pid, signal)
  }

  /** Resolves when the process has ended, however long that takes. */
  async exited(): Promise<void> {
    if (!this.hasEnded) await once(this.#process, "exit")
  }

  /** Waits for sessions as long as the manifest says, then ends them. */
  async stop(smartSeconds: number): Promise<void> {
    await this.#signal("SIGTERM")
    const fast = setTimeout(() => void this.#signal("SIGINT"), smartSeconds * 1_000)
    await within("the server of a pod to stop", this.exited(), (smartSeconds + 60) * 1_000)
    clearTimeout(fast)
    this.#process.stdin?.end()
  }

  /** Ends it without a checkpoint. */
  async kill(): Promise<void> {
    await this.#signal("SIGQUIT")
    await within("the server of a pod to end", this.exited(), startLimit)
    this.#process.stdin?.end()
  }
}

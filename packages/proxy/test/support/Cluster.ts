/**
 * A real Postgres cluster that tests start and stop. Like a compute it listens on a Unix socket in a directory with its
 * generation, so that a stale address reaches nothing.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { until, within } from "../../../../test/harness/eventually.ts"
import { postgresPrograms } from "../../../local-postgres/testing/postgresPrograms.ts"
import { scratchParent } from "../../../local-postgres/testing/scratchParent.ts"
import { copyTemplate } from "./clusterTemplate.ts"

const programs = await postgresPrograms()
const { directory: bin, identity } = programs

export class Cluster {
  #made: string | undefined
  #process: ChildProcess | undefined
  #starting: Promise<string> | undefined
  readonly #access: string | undefined
  generation = 0

  /** `access` is the text of pg_hba.conf. Default: every role has to prove its password. */
  constructor(access?: string) {
    this.#access = access
  }

  /** Whether it accepts connections. */
  get running(): boolean {
    return this.#process !== undefined && this.#starting === undefined
  }

  get address(): string {
    return join(this.#socketDirectory, ".s.PGSQL.5432")
  }

  /** Resolves with the address when it accepts connections. Concurrent calls share one start. */
  start(): Promise<string> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #start(): Promise<string> {
    if (this.#process !== undefined) return this.address
    if (!existsSync(this.#data)) await copyTemplate(programs, this.#data)
    if (this.#access !== undefined) writeFileSync(join(this.#data, "pg_hba.conf"), this.#access)
    this.generation++
    mkdirSync(this.#socketDirectory)
    this.#give(this.#socketDirectory)
    const settings = ["listen_addresses=", `unix_socket_directories=${this.#socketDirectory}`, "fsync=off"]
    const flags = [...settings, "client_connection_check_interval=500ms"].flatMap((setting) => ["-c", setting])
    const log = openSync(this.#log, "a")
    const child = spawn(join(bin, "postgres"), ["-D", this.#data, ...flags], {
      ...identity,
      cwd: this.#root,
      stdio: ["ignore", log, log]
    })
    closeSync(log)
    this.#process = child
    const ended = () => child.exitCode !== null || child.signalCode !== null
    await until("Postgres to be ready", () => ended() || this.#ready(), { limit: 60_000 })
    if (ended()) throw new Error(`Postgres ended with ${child.exitCode}:\n${readFileSync(this.#log, "utf8")}`)
    return this.address
  }

  /** Stops it with a fast shutdown. Resolves when the process has ended. */
  async stop(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, "exit")
    child.kill("SIGINT")
    await within("Postgres to stop", exit, 60_000).finally(() => child.kill("SIGKILL"))
  }

  async remove(): Promise<void> {
    await this.stop()
    if (this.#made !== undefined) rmSync(this.#made, { recursive: true, force: true })
  }

  get #root(): string {
    if (this.#made === undefined) {
      this.#made = mkdtempSync(join(scratchParent(), "narthex-proxy-"))
      chmodSync(this.#made, 0o755)
    }
    return this.#made
  }

  get #log(): string {
    return join(this.#root, "log")
  }

  get #data(): string {
    return join(this.#root, "data")
  }

  get #socketDirectory(): string {
    return join(this.#root, `g${this.generation}`)
  }

  #ready(): boolean {
    const file = join(this.#data, "postmaster.pid")
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : []
    return Number(lines[0]) === this.#process?.pid && lines[7]?.trim() === "ready"
  }

  #give(path: string): void {
    if (identity !== undefined) chownSync(path, identity.uid, identity.gid)
  }
}

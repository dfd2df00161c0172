/**
 * A real Postgres cluster that tests start and stop. It listens on a unix socket in a directory that carries a
 * generation, as computes do, so that an old address reaches nothing.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { postgresPrograms } from "../../../local-postgres/testing/postgresPrograms.ts"

export const password = "correct horse"

const { directory: bin, identity } = await postgresPrograms()

export class Cluster {
  readonly #root = join(tmpdir(), `narthex-proxy-${process.pid}-${Math.random().toString(36).slice(2)}`)
  readonly #identity = identity ?? {}
  readonly #bin = bin
  #process: ChildProcess | undefined
  #starting: Promise<string> | undefined
  generation = 0

  /** Does it accept connections? */
  get running(): boolean {
    return this.#process !== undefined && this.#starting === undefined
  }

  get address(): string {
    return join(this.#socketDirectory, ".s.PGSQL.5432")
  }

  /** Answers the address once it accepts connections. Starts that overlap are one. */
  start(): Promise<string> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  async #start(): Promise<string> {
    if (this.#process !== undefined) return this.address
    if (!existsSync(this.#root)) this.#make()
    this.generation++
    mkdirSync(this.#socketDirectory)
    this.#give(this.#socketDirectory)
    const settings = ["listen_addresses=", `unix_socket_directories=${this.#socketDirectory}`, "fsync=off"]
    const flags = [...settings, "client_connection_check_interval=500ms"].flatMap((setting) => ["-c", setting])
    const child = spawn(join(this.#bin, "postgres"), ["-D", this.#data, ...flags], {
      ...this.#identity,
      cwd: this.#root,
      stdio: "ignore"
    })
    this.#process = child
    while (child.exitCode === null && !this.#ready()) await new Promise((resume) => setTimeout(resume, 5))
    if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}`)
    return this.address
  }

  /** Stops fast and answers once it is down. */
  async stop(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null) return
    const exit = once(child, "exit")
    child.kill("SIGINT")
    await exit
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.#root, { recursive: true, force: true })
  }

  /** An empty cluster whose superuser is `app`, with SCRAM. */
  #make(): void {
    mkdirSync(this.#root, { mode: 0o755 })
    const passwordFile = join(this.#root, "password")
    writeFileSync(passwordFile, password)
    this.#give(passwordFile)
    mkdirSync(this.#data)
    this.#give(this.#data)
    const how = ["-A", "scram-sha-256", "-U", "app", `--pwfile=${passwordFile}`, "-N", "-E", "UTF8", "--locale=C"]
    execFileSync(join(this.#bin, "initdb"), ["-D", this.#data, ...how], {
      ...this.#identity,
      cwd: this.#root,
      stdio: "pipe"
    })
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

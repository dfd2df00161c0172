/**
 * A store of three Postgres servers as operators run it: Patroni decides which one leads, etcd has the lock, and HAProxy is
 * the one address that leads to the leader. All of them are Debian's programs, on ports of loopback.
 *
 * Everything ends with this process: each program depends on a pipe of it.
 */
import { execFile, spawn } from "node:child_process"
import { chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Redacted } from "effect"
import { type PostgresPrograms, postgresPrograms } from "../../../packages/local-postgres/testing/postgresPrograms.ts"
import { scratchParent } from "../../../packages/local-postgres/testing/scratchParent.ts"
import { until } from "../../harness/eventually.ts"
import { endProcessesIn, processesIn } from "../../support/processesIn.ts"
import { stablePorts } from "../../walk/stablePorts.ts"
import { etcdArguments, haproxySettings, host, nameOf, type Ports, patroniSettings } from "./settings.ts"

const run = promisify(execFile)

interface Member {
  readonly name: string
  readonly role: "leader" | "replica" | "sync_standby"
  readonly state: string
  readonly timeline?: number
  readonly lag?: number | "unknown"
}

/** `cat` ends when this process's end of the pipe closes, also after `kill -9`. */
const supervised = 'exec 3<&0; "$@" </dev/null & program=$!; (cat <&3 >/dev/null; kill -INT $program) & wait $program'

const nodes = [0, 1, 2] as const

const portsOf = async (): Promise<Ports> => {
  const [etcd = 0, etcdPeers = 0, store = 0, ...rest] = await stablePorts(3 + 2 * nodes.length)
  return {
    etcd,
    etcdPeers,
    store,
    nodes: nodes.map((node) => ({ rest: rest[node] ?? 0, postgres: rest[node + nodes.length] ?? 0 }))
  }
}

export class Patroni {
  readonly #directory: string
  readonly #ports: Ports
  readonly #programs: PostgresPrograms

  private constructor(directory: string, ports: Ports, programs: PostgresPrograms) {
    this.#directory = directory
    this.#ports = ports
    this.#programs = programs
  }

  /** Three servers of which two replicate the third, behind HAProxy with these settings. The scope ends them. */
  static readonly start = (haproxy: string) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const programs = await postgresPrograms()
        const made = new Patroni(await mkdtemp(join(scratchParent(), "narthex-patroni-")), await portsOf(), programs)
        await made.#start(haproxy)
        return made
      }),
      (patroni) => Effect.promise(() => patroni.#remove())
    )

  async #start(haproxy: string) {
    await this.#own(this.#directory)
    this.#spawn(this.#directory, "etcd", etcdArguments(this.#directory, this.#ports))
    await writeFile(join(this.#directory, "haproxy.cfg"), haproxySettings(haproxy, this.#ports))
    this.#spawn(this.#directory, "haproxy", ["-db", "-f", "haproxy.cfg"])
    for (const node of nodes) {
      const directory = this.#directoryOf(node)
      await mkdir(directory)
      await this.#own(directory)
      const settings = patroniSettings(node, directory, this.#programs.directory, this.#ports)
      await writeFile(join(directory, "patroni.yml"), settings)
      this.revive(node)
    }
    await this.complete()
  }

  async #remove() {
    for (const node of nodes) this.thaw(node)
    await endProcessesIn(this.#directory)
    await rm(this.#directory, { recursive: true, force: true })
  }

  async #own(path: string) {
    const { identity } = this.#programs
    if (identity !== undefined) await chown(path, identity.uid, identity.gid)
  }

  #spawn(directory: string, program: string, args: ReadonlyArray<string>) {
    const child = spawn("sh", ["-c", supervised, "sh", program, ...args], {
      ...this.#programs.identity,
      cwd: directory,
      stdio: ["pipe", "ignore", program === "patroni" ? "pipe" : "ignore"]
    })
    child.stderr?.on("data", (chunk: Buffer) => console.info(chunk.toString().trimEnd()))
  }

  #directoryOf(node: number): string {
    return join(this.#directory, nameOf(node))
  }

  /** The URL of a database, through the address of the leader. */
  url(user: string, database: string): string {
    return `postgresql://${user}@${host}:${this.#ports.store}/${database}`
  }

  /** Runs statements on the leader, as the superuser. */
  readonly admin = (text: string, database = "postgres") =>
    Effect.scoped(
      Effect.flatMap(PgConnection.make({ url: Redacted.make(this.url("postgres", database)) }), (connection) =>
        connection.query(text)
      )
    ).pipe(
      Effect.map(({ rows }) => rows),
      Effect.orDie
    )

  /** As any node that answers knows it; nothing if none does. */
  async members(): Promise<ReadonlyArray<Member>> {
    for (const { rest } of this.#ports.nodes) {
      try {
        const answer = await fetch(`http://${host}:${rest}/cluster`, { signal: AbortSignal.timeout(1_000) })
        const { members } = (await answer.json()) as { readonly members: ReadonlyArray<Member> } // Patroni's form
        return members
      } catch {
        // The node is dead, or stopped.
      }
    }
    return []
  }

  /** The node that leads. */
  async leader(): Promise<number> {
    const name = (await this.members()).find(({ role }) => role === "leader")?.name
    const node = nodes.find((it) => nameOf(it) === name)
    if (node === undefined) throw new Error("No node leads.")
    return node
  }

  /** Waits until one node leads and the others replicate all that it has, one of them synchronously if that is asked. */
  complete(synchronous = false): Promise<void> {
    return until(
      "two servers to replicate the third",
      async () => {
        const members = await this.members()
        const [leader] = members.filter(({ role }) => role === "leader")
        const standbys = members.filter(({ role }) => role !== "leader")
        return (
          standbys.length === 2 &&
          standbys.some(({ role }) => role === "sync_standby") === synchronous &&
          standbys.every(({ lag, timeline }) => timeline === leader?.timeline && lag === 0) &&
          members.every(({ state }) => state === "running" || state === "streaming")
        )
      },
      { every: 200, limit: 120_000 }
    )
  }

  /** Whether a commit waits for a standby. */
  async replicate(synchronous: boolean): Promise<void> {
    await this.#call("PATCH", "config", { synchronous_mode: synchronous })
    await this.complete(synchronous)
  }

  /** The operator's command: another node leads, and nothing is lost. */
  async switchOver(): Promise<void> {
    const settings = join(this.#directoryOf(await this.leader()), "patroni.yml")
    await run("patronictl", ["-c", settings, "switchover", "--force", "store"])
  }

  async #call(method: string, path: string, body: unknown): Promise<void> {
    const { rest } = this.#ports.nodes[await this.leader()] ?? { rest: 0 }
    const answer = await fetch(`http://${host}:${rest}/${path}`, { method, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`Patroni answered ${answer.status} to ${method} ${path}: ${await answer.text()}`)
  }

  /** The machine of a node is gone: no process of it does anything more. */
  kill(node: number): void {
    this.#signal(node, "SIGKILL")
  }

  /** The machine of a node hangs: its connections stay open. */
  freeze(node: number): void {
    this.#signal(node, "SIGSTOP")
  }

  thaw(node: number): void {
    this.#signal(node, "SIGCONT")
  }

  /** Nothing that the leader commits from now on reaches a standby. */
  isolate(node: number): void {
    this.#signal(node, "SIGSTOP", ({ command }) => command.includes("walsender"))
  }

  /** Starts a node that was killed, as init does with the machine. */
  revive(node: number): void {
    this.#spawn(this.#directoryOf(node), "patroni", ["patroni.yml"])
  }

  #signal(
    node: number,
    signal: NodeJS.Signals,
    which: (process: { readonly command: string }) => boolean = () => true
  ) {
    for (const process of processesIn(this.#directoryOf(node)))
      if (which(process))
        try {
          globalThis.process.kill(process.pid, signal)
        } catch {
          // The process ended in between.
        }
  }
}

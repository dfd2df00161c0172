/**
 * The platform as a child process, started as a user starts it: from the build, which is made if it is missing.
 *
 * `start` waits for the line that the process prints when it is up. `kill` sends SIGKILL: the platform's child
 * processes, which are Postgres servers, keep running, and the next start on the same directory adopts them.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { within } from "../harness/eventually.ts"
import { resource } from "../harness/resource.ts"
import { enterCpuGroup } from "./cpuGroups.ts"
import { endProcessesIn } from "./processesIn.ts"
import { type Account, asAccount, baseEnvironment, programs } from "./surroundings.ts"

export interface Ready {
  readonly api: string
  readonly console: string
  readonly proxy: string
  readonly admin: string
  readonly providers: ReadonlyArray<{ readonly id: string; readonly issuer: string }>
}

/** Milliseconds for a start or a stop, which take a few seconds; the limit only detects hangs. */
const limit = 60_000

export interface StartOptions {
  /** In a session of its own, as one that is started at another terminal. */
  readonly detached?: boolean
  /** The CPU control group that it is started in, and may divide. */
  readonly cpuGroup?: string | undefined
}

const groupOf = (group: string | undefined): Record<string, string> =>
  group === undefined ? {} : { NARTHEX_CPU_GROUP: group }

/** Lines of the log that a failure shows. */
const shown = 20

const anyPorts = {
  NARTHEX_API_PORT: "0",
  NARTHEX_CONSOLE_PORT: "0",
  NARTHEX_PROXY_PORT: "0",
  NARTHEX_ADMIN_PORT: "0",
  NARTHEX_DEV_PROVIDER_PORTS: "0,0"
}

/** The ports of an earlier platform, so that its addresses remain valid. */
export const samePorts = (ready: Ready) => {
  const port = (address: string) => new URL(address.includes("://") ? address : `http://${address}`).port
  return {
    NARTHEX_API_PORT: port(ready.api),
    NARTHEX_CONSOLE_PORT: port(ready.console),
    NARTHEX_PROXY_PORT: port(ready.proxy),
    NARTHEX_ADMIN_PORT: port(ready.admin),
    NARTHEX_DEV_PROVIDER_PORTS: ready.providers.map(({ issuer }) => port(issuer)).join(",")
  }
}

export class Platform {
  readonly ready: Ready
  readonly #directory: string
  readonly #process: ChildProcess
  readonly #log: ReadonlyArray<string>
  readonly #ended: Promise<unknown>

  private constructor(
    directory: string,
    process: ChildProcess,
    ready: Ready,
    log: ReadonlyArray<string>,
    ended: Promise<unknown>
  ) {
    this.#directory = directory
    this.#process = process
    this.ready = ready
    this.#log = log
    this.#ended = ended
  }

  /**
   * Resolves when the platform is up; rejects with the end of its log when it ends before that or takes too long.
   */
  static async start(
    directory: string,
    account: Account,
    environment: Record<string, string>,
    options: StartOptions = {}
  ): Promise<Platform> {
    await resource("build")
    const log: Array<string> = []
    const print = () => console.info(`The platform in ${directory}:\n${log.join("\n")}`)
    try {
      const platform = await Platform.startBuilt(directory, account, environment, (line) => log.push(line), options)
      platform.#ended.finally(print)
      return platform
    } catch (error) {
      print()
      throw error
    }
  }

  /** The same when the programs are built. `onLine` gets each line of the log. */
  static async startBuilt(
    directory: string,
    account: Account,
    environment: Record<string, string>,
    onLine: (line: string) => void,
    { cpuGroup, detached = false }: StartOptions = {}
  ): Promise<Platform> {
    const { args, command, options } = asAccount(account, [programs.platform])
    const child = spawn(command, args, {
      cwd: directory,
      env: {
        ...baseEnvironment(),
        ...anyPorts,
        NARTHEX_DATA_DIR: join(directory, "data"),
        ...groupOf(cpuGroup),
        ...environment
      },
      stdio: ["ignore", "pipe", "pipe"],
      detached,
      ...options
    })
    if (cpuGroup !== undefined && child.pid !== undefined) enterCpuGroup(cpuGroup, child.pid)
    const log: Array<string> = []
    createInterface({ input: child.stderr }).on("line", (line) => {
      log.push(line)
      onLine(line)
    })
    const lines = createInterface({ input: child.stdout })
    const ended = once(child, "close")
    ended.catch(() => undefined) // It could not be spawned; `early` says so.
    const early = ended.then(() => {
      throw new Error(`The platform ended with ${child.exitCode ?? child.signalCode}.`)
    })
    early.catch(() => undefined) // After the start its end is the test's business.
    try {
      const [line] = await within("the platform to be up", Promise.race([once(lines, "line"), early]), limit)
      const ready: Ready = JSON.parse(String(line))
      return new Platform(directory, child, ready, log, ended)
    } catch (error) {
      child.kill("SIGKILL")
      throw withLog(error, log)
    }
  }

  get log(): string {
    return this.#log.join("\n")
  }

  /** Runs a part of a test; its failure shows the end of this platform's log. */
  async explain<A>(work: () => Promise<A>): Promise<A> {
    return work().catch((error: unknown) => Promise.reject(withLog(error, this.#log)))
  }

  /** SIGSTOP: it has its connections and answers nothing until it is resumed. */
  pause(): void {
    this.#process.kill("SIGSTOP")
  }

  resume(): void {
    this.#process.kill("SIGCONT")
  }

  /** SIGKILL: nothing is put in order. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL")
  }

  /** Ctrl-C. Resolves with the exit code. */
  async stop(): Promise<number | null> {
    return this.#end("SIGINT")
  }

  /** Ends the platform, in whatever state the test left it, and the servers that it did not stop itself. */
  async clear(): Promise<void> {
    await this.kill()
    await endProcessesIn(this.#directory)
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    this.#process.kill(signal)
    try {
      await within(`the platform to end after ${signal}`, this.#ended, limit)
    } catch (error) {
      this.#process.kill("SIGKILL")
      throw withLog(error, this.#log)
    }
    return this.#process.exitCode
  }
}

/** The same error with the end of the log in its message; its stack and difference are kept. */
export const withLog = (error: unknown, log: ReadonlyArray<string>): unknown => {
  if (error instanceof Error && log.length > 0)
    error.message += `\nThe end of the platform's log:\n${log.slice(-shown).join("\n")}`
  return error
}

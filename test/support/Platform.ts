/**
 * The standalone platform as a child process, as a user starts it, and the command line as a user runs it.
 *
 * It waits for the line that the process prints when it is up. `kill` is SIGKILL: the platform's own children, which
 * are Postgres servers, live on, and a second start on the same directory has to adopt them.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"

const root = resolve(import.meta.dirname, "../..")
const main = join(root, "packages/standalone/dist/main.js")
const serverFile = join(root, "packages/standalone/dist/server.js")
const cliFile = join(root, "packages/cli/dist/narthex.js")

export interface Ready {
  readonly api: string
  readonly console: string
  readonly proxy: string
  readonly admin: string
  readonly providers: ReadonlyArray<{ readonly id: string; readonly issuer: string }>
}

/** Whom the platform runs as. */
export type Account = "root" | "ordinary"

/** `nobody`: every Debian has it. */
const ordinary = { uid: 65_534, gid: 65_534 }

export const isRoot = process.getuid?.() === 0

/** Is there a Postgres server of the system's own? In CI there must be. */
export const systemPostgres =
  process.env["CI"] === "true" || (existsSync("/usr/lib/postgresql") && readdirSync("/usr/lib/postgresql").length > 0)

export const built = existsSync(main) && existsSync(cliFile)

/** May everybody read the checkout? In a directory that only root enters, nobody could not even load the code. */
const readableByAll = (path: string): boolean => {
  const open = (statSync(path).mode & 0o005) === 0o005
  return open && (path === "/" || readableByAll(dirname(path)))
}

/**
 * The command that runs Node as this account. Where the checkout is closed to others, the process keeps the one right to
 * read past that and is an ordinary user in everything else.
 */
const asAccount = (account: Account, args: ReadonlyArray<string>) => {
  if (account === "root" || !isRoot) return { command: process.execPath, args, options: {} }
  if (readableByAll(root)) return { command: process.execPath, args, options: ordinary }
  const rights = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--clear-groups"]
  const who = [`--reuid=${ordinary.uid}`, `--regid=${ordinary.gid}`]
  return { command: "setpriv", args: [...who, ...rights, process.execPath, ...args], options: {} }
}

/** An empty directory of the account's own, and the way to get rid of it. */
export const emptyDirectory = (account: Account) => {
  const path = mkdtempSync(join(tmpdir(), "narthex-journey-"))
  if (account === "ordinary" && isRoot) chownSync(path, ordinary.uid, ordinary.gid)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

const baseEnvironment = () => {
  const { HOME, LANG, PATH } = process.env
  return { ...(HOME === undefined ? {} : { HOME }), ...(LANG === undefined ? {} : { LANG }), PATH: PATH ?? "" }
}

const anyPorts = {
  NARTHEX_API_PORT: "0",
  NARTHEX_CONSOLE_PORT: "0",
  NARTHEX_PROXY_PORT: "0",
  NARTHEX_ADMIN_PORT: "0",
  NARTHEX_DEV_PROVIDER_PORTS: "0,0"
}

/** The ports of a platform that ran before, so that addresses that it gave out stay good. */
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
  readonly #process: ChildProcess
  readonly #log: ReadonlyArray<string>

  private constructor(process: ChildProcess, ready: Ready, log: ReadonlyArray<string>) {
    this.#process = process
    this.ready = ready
    this.#log = log
  }

  /** Resolves when the platform is up; rejects with what it said when it ends before that. */
  static async start(dataDir: string, account: Account, environment: Record<string, string>): Promise<Platform> {
    const { args, command, options } = asAccount(account, [main])
    const child = spawn(command, args, {
      cwd: dataDir,
      env: { ...baseEnvironment(), ...anyPorts, NARTHEX_DATA_DIR: join(dataDir, "data"), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      ...options
    })
    const log: Array<string> = []
    createInterface({ input: child.stderr }).on("line", (line) => log.push(line))
    const lines = createInterface({ input: child.stdout })
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`The platform ended with ${code}:\n${log.join("\n")}`)
    })
    const [line] = await Promise.race([once(lines, "line"), ended])
    ended.catch(() => undefined) // from here on the end is somebody's wish
    const ready: Ready = JSON.parse(String(line))
    return new Platform(child, ready, log)
  }

  get log(): string {
    return this.#log.join("\n")
  }

  /** SIGKILL: nothing is put in order. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL")
  }

  /** Ctrl-C. Answers the exit code. */
  async stop(): Promise<number | null> {
    return this.#end("SIGINT")
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#process.exitCode !== null) return this.#process.exitCode
    const ended = once(this.#process, "exit")
    this.#process.kill(signal)
    const [code] = await ended
    return code
  }
}

export interface CliResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The bundled command line, with a home directory of its own. */
export const cli = (home: string, api: string, key: string | undefined, args: ReadonlyArray<string>): CliResult => {
  mkdirSync(home, { recursive: true })
  accessSync(cliFile, constants.R_OK)
  const { status, stderr, stdout } = spawnSync(process.execPath, [cliFile, ...args], {
    env: {
      ...baseEnvironment(),
      HOME: home,
      NARTHEX_URL: api,
      NARTHEX_NO_UPDATE_NOTIFIER: "1",
      ...(key === undefined ? {} : { NARTHEX_API_KEY: key })
    },
    encoding: "utf8",
    timeout: 30_000
  })
  return { status, stdout, stderr }
}

/** An operator's command beside a running platform. Answers what it printed. */
export const operator = (dataDir: string, ...args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [serverFile, ...args], {
    env: { ...baseEnvironment(), NARTHEX_DATA_DIR: join(dataDir, "data") },
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`narthex-server ${args.join(" ")} ended with ${status}: ${stderr}`)
  return stdout
}

/** Command lines of living processes that hold this text, as the kernel has them. */
export const processesWith = (text: string): ReadonlyArray<string> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
        return line.includes(text) ? [`${pid} ${line}`] : []
      } catch {
        return [] // it ended while we looked
      }
    })

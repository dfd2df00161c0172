/**
 * The programs that operators run, as processes from `dist`: one that serves until it is stopped, and one that ends by
 * itself.
 *
 * The stderr of a process goes to the test file's log, and into the failure when the process does not come up.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { Effect } from "effect"
import { within } from "../../harness/eventually.ts"
import { listenedBy } from "./sockets.ts"

const dist = resolve(import.meta.dirname, "../../../packages/server/dist")

export type ProgramName = "platform" | "server" | "proxy"
export type Environment = Readonly<Record<string, string>>

/** The variables of this environment that a child needs; no setting of the platform comes from outside the test. */
const inherited = ["HOME", "PATH", "LANG", "NODE_COMPILE_CACHE", "NODE_OPTIONS", "NARTHEX_TEST_CLOCK"]

const environmentWith = (settings: Environment) => ({
  ...Object.fromEntries(inherited.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : []))),
  ...settings
})

const spawned = (name: ProgramName, args: ReadonlyArray<string>, settings: Environment): ChildProcess =>
  spawn(process.execPath, [join(dist, `narthex-${name}.js`), ...args], {
    env: environmentWith(settings),
    stdio: ["ignore", "pipe", "pipe"]
  })

const textOf = (child: ChildProcess, stream: "stdout" | "stderr"): (() => string) => {
  let text = ""
  child[stream]?.on("data", (chunk: Buffer) => {
    text += chunk.toString()
  })
  return () => text
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs to its end. */
export const run = (name: ProgramName, args: ReadonlyArray<string>, settings: Environment): Effect.Effect<Ended> =>
  Effect.acquireUseRelease(
    Effect.sync(() => spawned(name, args, settings)),
    (child) =>
      Effect.promise(async () => {
        const [stdout, stderr] = [textOf(child, "stdout"), textOf(child, "stderr")]
        const [code] = await within(`${name} ${args.join(" ")} to end`, once(child, "close"))
        return { code, stdout: stdout(), stderr: stderr() }
      }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** A process that said that it is up. */
export class Program {
  /** The process's line for programs. */
  readonly ready: Readonly<Record<string, unknown>>
  readonly #child: ChildProcess
  readonly #log: () => string

  private constructor(child: ChildProcess, ready: string, log: () => string) {
    this.#child = child
    this.ready = JSON.parse(ready)
    this.#log = log
  }

  /** Starts it and waits for its line; the scope's end kills it if it still runs. */
  static readonly start = (name: ProgramName, args: ReadonlyArray<string>, settings: Environment) =>
    Effect.map(Program.launch(name, args, settings), ({ up }) => up).pipe(Effect.flatMap((up) => Effect.promise(up)))

  /** Starts it without waiting. */
  static readonly launch = (name: ProgramName, args: ReadonlyArray<string>, settings: Environment) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const child = spawned(name, args, settings)
        const log = textOf(child, "stderr")
        child.stderr?.on("data", (chunk: Buffer) => console.info(chunk.toString().trimEnd()))
        const line = child.stdout === null ? Promise.reject() : once(createInterface({ input: child.stdout }), "line")
        const ended = once(child, "close").then(([code]) => {
          throw new Error(`${name} ${args.join(" ")} ended with ${code}:\n${log()}`)
        })
        const first = Promise.race([line, ended])
        first.catch(() => undefined)
        const up = () =>
          within(`${name} ${args.join(" ")} to be up`, first).then(([text]) => new Program(child, String(text), log))
        return { child, log, output: textOf(child, "stdout"), listensOn: () => listenedBy(child.pid), up }
      }),
      ({ child }) =>
        Effect.promise(async () => {
          if (child.exitCode !== null || child.signalCode !== null) return
          const gone = once(child, "exit")
          child.kill("SIGKILL")
          await gone
        })
    )

  get log(): string {
    return this.#log()
  }

  /** A member of the line that is text. */
  address(name: string): string {
    const value = this.ready[name]
    if (typeof value !== "string") throw new Error(`The line has no "${name}": ${JSON.stringify(this.ready)}`)
    return value
  }

  kill(): void {
    this.#child.kill("SIGKILL")
  }

  /** Makes it stand still, or go on. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(name)
  }

  /** SIGTERM; the exit code. */
  stop(): Promise<number | null> {
    const { exitCode } = this.#child
    if (exitCode !== null) return Promise.resolve(exitCode)
    // `close`: what it wrote last has been read too.
    const ended = once(this.#child, "close").then(([code]) => code)
    this.#child.kill("SIGTERM")
    return within("the process to end after SIGTERM", ended)
  }

  get listensOn(): ReadonlyArray<number> {
    return listenedBy(this.#child.pid)
  }
}

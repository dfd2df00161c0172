/**
 * The terminal in which a person runs `npm start`: an interactive bash on a pseudo-terminal, made by util-linux's
 * `script`. So the platform prints its banner for people, and Ctrl-C makes the kernel interrupt the foreground
 * processes.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { stripVTControlCharacters } from "node:util"
import { until } from "../harness/eventually.ts"

const prompt = "first-terminal> "
/** Set here because `script` runs bash through a shell, which does not pass on `PS1` from its environment. */
const interactive = `PS1='${prompt}' exec bash --noprofile --norc -i`
const ctrlC = "\u0003"

export class FirstTerminal {
  readonly #script: ChildProcessWithoutNullStreams
  #shown = ""

  constructor(cwd: string, env: Readonly<Record<string, string | undefined>>) {
    this.#script = spawn("script", ["-qfc", interactive, "/dev/null"], {
      cwd,
      env: { ...env, TERM: "dumb" },
      detached: true
    })
    for (const stream of [this.#script.stdout, this.#script.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#shown += stripVTControlCharacters(text).replaceAll("\r", "")
      })
    this.#script.stdin.on("error", () => undefined) // the terminal is closed: the wait for its answer says so
  }

  /** The text that the terminal shows since the last command. */
  get shown(): string {
    return this.#shown
  }

  /** Types a command. Wait for the prompt before: what is typed ahead may go to the command that runs. */
  type(command: string): void {
    this.#shown = ""
    this.#script.stdin.write(`${command}\n`)
  }

  interrupt(): void {
    this.#script.stdin.write(ctrlC)
  }

  /** Waits until it shows this, and answers what was found. */
  async shows(what: string, wanted: RegExp, limit?: number): Promise<RegExpExecArray> {
    let found: RegExpExecArray | null = null
    const look = () => {
      found = wanted.exec(this.#shown)
      return found !== null || this.#script.exitCode !== null
    }
    const waited = until(what, look, { every: 20, ...(limit === undefined ? {} : { limit }) })
    await waited.catch((error: Error) => {
      throw new Error(`${error.message} The first terminal shows:\n${this.#shown}`)
    })
    if (found === null) throw new Error(`The first terminal was closed before ${what}:\n${this.#shown}`)
    return found
  }

  /** The command has ended. */
  async prompts(what: string): Promise<void> {
    await this.shows(`the prompt after ${what}`, new RegExp(`${prompt}$`))
  }

  /** The exit status of the last command. */
  async status(): Promise<number> {
    this.type('echo "status=$?"')
    const [, status] = await this.shows("the exit status", /^status=(\d+)$/m)
    await this.prompts("echo")
    return Number(status)
  }
}

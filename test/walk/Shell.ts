/**
 * A terminal in which a person works: one bash that keeps what its blocks define, and returns what each block printed.
 *
 * Blocks are sent over a separate descriptor, so that standard input stays open with nothing typed, as in a terminal. A
 * mark on both standard output and standard error ends each block, because the two arrive independently.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import type { Writable } from "node:stream"
import { until, within } from "../harness/eventually.ts"

export interface Printed {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** A block that runs until it is interrupted. */
export interface Running {
  readonly stdout: () => string
  readonly stderr: () => string
  /** Ctrl-C: SIGINT to the group in the foreground. */
  readonly interrupt: () => Promise<Printed>
}

const loop = [
  'while IFS= read -r -d "" walk_block <&3; do',
  '  eval "$walk_block" 3<&-; walk_status=$?',
  '  printf "%s %s\\n" "$1" "$walk_status"; printf "%s\\n" "$1" >&2',
  "done"
].join("\n")

/** Commands of the walk take a second or two; waking an endpoint on a loaded machine takes longest. */
const blockLimit = 60_000

export class Shell {
  readonly #bash: ChildProcess
  readonly #blocks: Writable
  readonly #mark = `end-of-block-${randomBytes(6).toString("hex")}`
  #stdout = ""
  #stderr = ""

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    // A separate process group: Ctrl-C in this terminal does not reach the others or the program that runs the walk.
    const options = { cwd, env, detached: true }
    const bash = spawn("bash", ["--noprofile", "--norc", "-c", loop, "bash", this.#mark], {
      ...options,
      stdio: ["pipe", "pipe", "pipe", "pipe"]
    })
    bash.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text
    })
    bash.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text
    })
    const blocks = bash.stdio[3] as Writable // the fourth "pipe" above
    blocks.on("error", () => undefined) // bash has ended: the wait for the block's end says so
    this.#bash = bash
    this.#blocks = blocks
  }

  /** Runs a block to its end. `what` names it in the failure that says it did not end. */
  async run(what: string, block: string): Promise<Printed> {
    this.#type(block)
    return this.#end(what)
  }

  /** Begins a block that does not end by itself. */
  begin(what: string, block: string): Running {
    this.#type(block)
    return {
      stdout: () => this.#stdout,
      stderr: () => this.#stderr,
      interrupt: () => {
        this.#signal("SIGINT")
        return this.#end(`${what} to end with Ctrl-C`)
      }
    }
  }

  /** Closes the terminal with all that runs in it. */
  async close(): Promise<void> {
    const ended = this.#bash.exitCode !== null || this.#bash.signalCode !== null
    const gone = ended ? undefined : once(this.#bash, "exit")
    this.#signal("SIGKILL")
    if (gone !== undefined) await within("a terminal to close", gone)
  }

  #type(block: string): void {
    this.#stdout = ""
    this.#stderr = ""
    this.#blocks.write(`${block}\0`)
  }

  async #end(what: string): Promise<Printed> {
    const last = new RegExp(`^([\\s\\S]*?)${this.#mark} (\\d+)\\n$`)
    const hasEnded = () => last.test(this.#stdout) && this.#stderr.endsWith(`${this.#mark}\n`)
    const isGone = () => this.#bash.exitCode !== null || this.#bash.signalCode !== null
    const waiting = until(`the end of ${what}`, () => hasEnded() || isGone(), { limit: blockLimit })
    await waiting.catch((error: Error) => {
      throw new Error(`${error.message} It has printed:\n${this.#stdout}${this.#stderr}`)
    })
    const [, stdout, status] = last.exec(this.#stdout) ?? []
    if (stdout === undefined || !hasEnded()) throw new Error(`The shell ended in ${what}:\n${this.#stderr}`)
    return { status: Number(status), stdout, stderr: this.#stderr.slice(0, -this.#mark.length - 1) }
  }

  /** To its whole group, which is gone when nothing of it runs any more. */
  #signal(kind: NodeJS.Signals): void {
    try {
      if (this.#bash.pid !== undefined) process.kill(-this.#bash.pid, kind)
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error
    }
  }
}

/** A process of the chaos test that is killed and restarted, and the events that it has read so far. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { within } from "../../../../test/harness/eventually.ts"
import type { Seen } from "./chaosModel.ts"

export class ChaosProcess {
  readonly role: string
  readonly seen: Array<Seen> = []
  kills = 0
  /** The work since the process was started: transactions, calls that moved events, batches. */
  done = 0
  readonly #script: string
  readonly #url: string
  #child: ChildProcess
  #complaint = ""
  /** Killed by the test. */
  #stopped = false

  /** `script`: the file of the program "chaos-role". */
  constructor(role: string, script: string, url: string) {
    this.role = role
    this.#script = script
    this.#url = url
    this.#child = this.#start()
  }

  /** The output of a process that ended by itself. */
  get failed(): string | undefined {
    const { exitCode, signalCode } = this.#child
    const ended = exitCode !== null || (signalCode !== null && !this.#stopped)
    return ended ? `A ${this.role} ended by itself (${exitCode ?? signalCode}): ${this.#complaint}` : undefined
  }

  /** Kills the process with -9 and starts a new one at the position that the old one printed last. */
  async killAndRestart(): Promise<void> {
    await this.stop()
    this.kills += 1
    this.#child = this.#start()
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    this.#stopped = true
    const closed = once(child, "close") // all that it printed has been read
    child.kill("SIGKILL")
    await within(`a ${this.role} to end by kill -9`, closed)
  }

  #start(): ChildProcess {
    this.done = 0
    this.#stopped = false
    const position = String(this.seen.at(-1)?.[0] ?? 0)
    const args = [this.#script, this.role, this.#url, position, String(Math.random())]
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] })
    child.stderr.on("data", (chunk) => {
      this.#complaint = `${this.#complaint}${chunk}`.slice(-2_000)
    })
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.done += 1
      // The last line of a killed process may be partial; the next process reads those events again.
      if (line.endsWith("]]")) this.seen.push(...JSON.parse(line))
    })
    return child
  }
}

/** A runner in its own process, which the storm kills, stops, continues and starts again. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { within } from "../../harness/eventually.ts"
import type { StormRunnerOptions } from "./runnerMain.ts"

export class StormRunner {
  readonly #args: string
  readonly #script: string
  #child: ChildProcess | undefined
  /** Whether it holds the directory of the computes, as far as it has said. */
  holds = false
  complaint = ""

  /** `script`: the file of the program "storm-runner". */
  constructor(script: string, options: StormRunnerOptions) {
    this.#script = script
    this.#args = JSON.stringify(options)
  }

  get alive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  start(): void {
    const child = spawn(process.execPath, [this.#script, this.#args], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    this.#child = child
    this.holds = false
    child.stdout.on("data", () => {
      if (this.#child === child) this.holds = true
    })
    child.stderr.on("data", (chunk) => {
      this.complaint = `${this.complaint}${chunk}`.slice(-2_000)
    })
    child.once("exit", () => {
      if (this.#child === child) this.holds = false
    })
  }

  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#child?.kill(name)
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || !this.alive) return
    const gone = once(child, "exit")
    child.kill("SIGKILL")
    await within("a killed runner to be gone", gone)
  }
}

/** A runner in a process of its own: started, killed in the middle of whatever it does, started again. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

export interface RunnerOptions {
  readonly url: string
  readonly lease_ms: number
}

const script = join(import.meta.dirname, "runnerMain.ts")

export class RunnerProcess {
  readonly #args: string
  #child: ChildProcess | undefined
  /** Every process that was killed. */
  readonly killed = new Set<number>()

  constructor(options: RunnerOptions) {
    this.#args = JSON.stringify(options)
  }

  /** Done when it works. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, ["--conditions=source", script, this.#args], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    this.#child = child
    let complaint = ""
    child.stderr.on("data", (chunk) => {
      complaint = `${complaint}${chunk}`.slice(-2_000)
    })
    const lines = createInterface({ input: child.stdout })
    const up = await Promise.race([once(lines, "line"), once(child, "exit").then(() => undefined)])
    if (up === undefined) throw new Error(`A runner did not start: ${complaint}`)
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    this.killed.add(child.pid)
    const gone = once(child, "exit")
    child.kill("SIGKILL")
    await gone
  }
}

/** A runner in its own process, which a test can start, kill at any point, and start again. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { within } from "../../harness/eventually.ts"
import { program } from "../../harness/programs.ts"

export interface RunnerOptions {
  readonly url: string
  readonly lease_ms: number
  /** How its database connections are called. */
  readonly name: string
}

/** The line that a runner prints when it claims its first operation. */
export interface RunnerUp {
  /** The holder of the leases of this process. */
  readonly worker: string
}

export class RunnerProcess {
  readonly #args: string
  #child: ChildProcess | undefined
  #worker = ""
  /** Every process that was killed. */
  readonly killed = new Set<number>()

  readonly name: string

  constructor(options: RunnerOptions) {
    this.name = options.name
    this.#args = JSON.stringify(options)
  }

  /** 0 while it does not run. */
  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** The holder of the leases of the process that was started last. */
  get worker(): string {
    return this.#worker
  }

  /** Done when it works. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [await program("runner"), this.#args], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    this.#child = child
    let complaint = ""
    child.stderr.on("data", (chunk) => {
      complaint = `${complaint}${chunk}`.slice(-2_000)
    })
    const lines = createInterface({ input: child.stdout })
    const first = Promise.race([once(lines, "line"), once(child, "exit").then(() => undefined)])
    const up = await within("a runner to start", first)
    if (up === undefined) throw new Error(`A runner did not start: ${complaint}`)
    // The script writes this form.
    this.#worker = (JSON.parse(String(up[0])) as RunnerUp).worker
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    this.killed.add(child.pid)
    const gone = once(child, "exit")
    child.kill("SIGKILL")
    await within("a killed runner to be gone", gone)
  }
}

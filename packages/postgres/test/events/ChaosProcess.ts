/** A process of the chaos test that is killed and started again, and what it has read so far. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Seen } from "./chaosModel.ts"

const script = join(import.meta.dirname, "chaosRole.ts")

export class ChaosProcess {
  readonly role: string
  readonly seen: Array<Seen> = []
  kills = 0
  /** Has it begun to work? */
  up = false
  readonly #url: string
  #child: ChildProcess
  #complaint = ""

  constructor(role: string, url: string) {
    this.role = role
    this.#url = url
    this.#child = this.#start()
  }

  /** It died by itself: what it said. */
  get failed(): string | undefined {
    return this.#child.exitCode === null ? undefined : this.#complaint
  }

  /** kill -9, and a new process that goes on where the old one was last heard. */
  async again(): Promise<void> {
    await this.stop()
    this.kills += 1
    this.#child = this.#start()
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGKILL")
    await once(child, "close") // all that it printed has been read
  }

  #start(): ChildProcess {
    this.up = false
    const position = String(this.seen.at(-1)?.[0] ?? 0)
    const child = spawn(process.execPath, ["--conditions=source", script, this.role, this.#url, position], {
      stdio: ["ignore", "pipe", "pipe"]
    })
    child.stderr.on("data", (chunk) => {
      this.#complaint = `${this.#complaint}${chunk}`.slice(-2_000)
    })
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "up") this.up = true
      // The last line of a killed process may be half; the next process reads those events again.
      if (line.endsWith("]]")) this.seen.push(...JSON.parse(line))
    })
    return child
  }
}

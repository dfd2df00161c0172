/**
 * The bystander as a process of its own, because it stands for another machine: what the others do in the process of the
 * test must not delay it, and where this account may give priorities, nothing on this machine does.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { within } from "../../harness/eventually.ts"
import { program } from "../../harness/programs.ts"
import { toLog } from "../../harness/toLog.ts"
import type { Bystander } from "./Bystander.ts"
import type { Caller } from "./Caller.ts"
import type { Measured } from "./Measured.ts"

/** Runs the command with a priority of real time, if this account may. */
const beforeOthers = 'chrt -r -p 1 $$; exec "$@"'

/** Milliseconds that a machine which is busy with other work may need for what is asked. */
const patience = 300_000

export class BystanderProcess {
  readonly address: Bystander["address"]
  readonly #say: (line: string) => void
  readonly #next: () => Promise<string>
  readonly close: () => void

  private constructor(
    address: Bystander["address"],
    say: (line: string) => void,
    next: () => Promise<string>,
    close: () => void
  ) {
    this.address = address
    this.#say = say
    this.#next = next
    this.close = close
  }

  /** `first`: before every other process of this machine. */
  static async start(caller: Caller, first: boolean): Promise<BystanderProcess> {
    const command = [process.execPath, await program("bystander"), JSON.stringify(caller)] as const
    const [name, ...args] = first ? (["sh", "-c", beforeOthers, "sh", ...command] as const) : command
    const child = spawn(name, args, { stdio: ["pipe", "pipe", "pipe"] })
    toLog(child.stderr)
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async () => {
      const { done, value } = await within("an answer of the bystander", lines.next(), patience)
      if (done === true) throw new Error("The process of the bystander has ended.")
      return value
    }
    // It prints the types that this reads.
    const address = JSON.parse(await next()) as Bystander["address"]
    return new BystanderProcess(
      address,
      (line) => child.stdin.write(`${line}\n`),
      next,
      () => child.kill("SIGKILL")
    )
  }

  /** It works while `during` does, and until it has done this many rounds. Resolves with what it measured. */
  async rounds(least: number, during: Promise<unknown> = Promise.resolve()): Promise<Measured> {
    this.#say("begin")
    await during
    this.#say(`end ${least}`)
    // As above.
    return JSON.parse(await this.#next()) as Measured
  }
}

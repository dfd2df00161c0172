/**
 * The bystander as a process of its own, because it stands for another machine: what the others do in the process of the
 * test must not delay it, and where tests can make control groups, it has a priority of real time.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { within } from "../../harness/eventually.ts"
import { program } from "../../harness/programs.ts"
import { toLog } from "../../harness/toLog.ts"
import type { Bystander } from "./Bystander.ts"
import type { Caller } from "./Caller.ts"
import type { Measured } from "./Measured.ts"

/** Runs the command with a priority of real time. Where the system refuses that, it says so, and the command runs. */
const beforeOthers = 'chrt -r -p 1 $$; exec "$@"'

/** Milliseconds that a machine which is busy with other work may need to start it, and for a round. */
const patience = { start: 60_000, round: 15_000 }

export class BystanderProcess {
  readonly address: Bystander["address"]
  readonly #say: (line: string) => void
  readonly #next: (limit: number) => Promise<string>
  readonly close: () => void

  private constructor(
    address: Bystander["address"],
    say: (line: string) => void,
    next: (limit: number) => Promise<string>,
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
    // Ignored: `next` fails when the process has ended.
    child.stdin.on("error", () => undefined)
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async (limit: number) => {
      const { done, value } = await within("an answer of the bystander", lines.next(), limit)
      if (done === true) throw new Error("The process of the bystander has ended.")
      return value
    }
    const close = () => child.kill("SIGKILL")
    try {
      // The process prints this type.
      const address = JSON.parse(await next(patience.start)) as Bystander["address"]
      return new BystanderProcess(address, (line) => child.stdin.write(`${line}\n`), next, close)
    } catch (error) {
      close()
      throw error
    }
  }

  /** The bystander works while `during` does, and for at least this many rounds. Resolves with its measurements. */
  async rounds(least: number, during: Promise<unknown> = Promise.resolve()): Promise<Measured> {
    this.#say("begin")
    await during
    this.#say(`end ${least}`)
    // As above.
    return JSON.parse(await this.#next(patience.start + least * patience.round)) as Measured
  }
}

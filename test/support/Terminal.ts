/**
 * A program on a pseudo-terminal, as a person has it in front: keys go in, and a screen comes out.
 *
 * util-linux's `script` makes the terminal, coreutils' `stty` sets and reads it, and xterm.js interprets what is written
 * to it. `script` and `stty` are in Debian's essential packages.
 *
 * Pitfall: looking for a text among the bytes of the terminal. A line that is redrawn contains what is no longer visible.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import type { Readable, Writable } from "node:stream"
import xterm from "@xterm/headless"
import { until, within } from "../harness/eventually.ts"
import { toLog } from "../harness/toLog.ts"
import { baseEnvironment } from "./surroundings.ts"

export interface TerminalOptions {
  /** Default: 80. */
  readonly columns?: number
  /** Default: 24. */
  readonly rows?: number
  readonly cwd?: string
  /** Additional to `baseEnvironment`. */
  readonly environment?: Readonly<Record<string, string>>
}

/** What keys send. */
export const keys = {
  enter: "\r",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  tab: "\t",
  up: "\u001b[A"
} as const

const trimmed = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const ends = lines.map((line) => line.trimEnd())
  return ends.slice(0, ends.findLastIndex((line) => line !== "") + 1)
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/** The first command reports the process and the terminal on descriptor 3, which the program does not get. */
const starting = (words: ReadonlyArray<string>, columns: number, rows: number) =>
  `stty sane cols ${columns} rows ${rows} && echo "$$ $(tty)" >&3 && exec 3>&- ${words.map(quoted).join(" ")}`

export class Terminal {
  /** The process of the program. */
  readonly pid: number
  readonly #device: string
  readonly #script: ChildProcess
  readonly #keyboard: Writable
  readonly #emulator: xterm.Terminal
  readonly #ended: Promise<number>
  #written = ""
  #drawn: Promise<void> = Promise.resolve()
  #status: number | undefined

  private constructor(script: ChildProcess, facts: string, emulator: xterm.Terminal) {
    const [pid, device = ""] = facts.trim().split(" ")
    this.pid = Number(pid)
    this.#device = device
    this.#script = script
    this.#emulator = emulator
    // The first two are "pipe" below.
    const [keyboard, shown] = [script.stdio[0] as Writable, script.stdio[1] as Readable]
    keyboard.on("error", () => undefined) // the terminal is closed: the wait for its answer says so
    this.#keyboard = keyboard
    emulator.onData((reply) => void keyboard.write(reply))
    shown.on("data", (bytes: Buffer) => {
      this.#written += bytes.toString("latin1")
      this.#drawn = new Promise((drawn) => emulator.write(bytes, drawn))
    })
    this.#ended = once(script, "close").then(async ([code]) => {
      await this.#drawn
      this.#status = Number(code)
      return this.#status
    })
    this.#ended.catch(() => undefined)
  }

  /** Resolves when the terminal exists and the program is about to start. */
  static async run(
    words: ReadonlyArray<string>,
    { columns = 80, cwd, environment = {}, rows = 24 }: TerminalOptions = {}
  ): Promise<Terminal> {
    const script = spawn("script", ["-qfec", starting(words, columns, rows), "/dev/null"], {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...baseEnvironment(), LANG: "C.UTF-8", ...environment, SHELL: "/bin/sh", TERM: "xterm-256color" },
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      detached: true
    })
    toLog(script.stderr)
    const emulator = new xterm.Terminal({ cols: columns, rows, scrollback: 5_000, allowProposedApi: true })
    try {
      const [facts] = await within("a pseudo-terminal", once(script.stdio[3] as Readable, "data"))
      return new Terminal(script, String(facts), emulator)
    } catch (error) {
      script.kill("SIGKILL")
      throw error
    }
  }

  /** The lines on the screen and above it, without spaces at the ends of lines and without empty lines at the end. */
  get rows(): ReadonlyArray<string> {
    return trimmed(this.#rows.map(({ text }) => text))
  }

  /** The same as a text, in which a line that was too long for the screen is one line. */
  get text(): string {
    const joined = this.#rows.map(({ continues, text }, at) => (continues || at === 0 ? text : `\n${text}`)).join("")
    return trimmed(joined.split("\n")).join("\n")
  }

  get #rows() {
    const { active } = this.#emulator.buffer
    return Array.from({ length: active.length }, (_, at) => {
      const line = active.getLine(at)
      return { text: line?.translateToString() ?? "", continues: line?.isWrapped === true }
    })
  }

  /** The column of the cursor, from 0. */
  get column(): number {
    return this.#emulator.buffer.active.cursorX
  }

  /** All bytes so far, as Latin-1. */
  get written(): string {
    return this.#written
  }

  type(text: string): void {
    this.#keyboard.write(text)
  }

  /** Types a line, with Enter at its end. */
  enter(line: string): void {
    this.type(line + keys.enter)
  }

  /** Waits until the screen shows this, and returns what was found. Fails with the screen. */
  async shows(wanted: RegExp): Promise<RegExpExecArray> {
    let found: RegExpExecArray | null = null
    const look = async () => {
      const ended = this.#status !== undefined
      await this.#drawn
      found = wanted.exec(this.text)
      return found !== null || ended
    }
    await until(`the terminal to show ${wanted}`, look).catch((error: Error) => {
      throw new Error(`${error.message} It shows:\n${this.text}`)
    })
    if (found === null)
      throw new Error(`The program ended with ${this.#status} before it showed ${wanted}:\n${this.text}`)
    return found
  }

  /** Resolves with the exit code when the program has ended; 128 and the number of a signal, as in a shell. */
  async ends(): Promise<number> {
    return within("the program on the terminal to end", this.#ended).catch((error: Error) => {
      throw new Error(`${error.message} The terminal shows:\n${this.text}`)
    })
  }

  /** The settings of the terminal, as `stty -g` prints them. */
  get settings(): string {
    return this.#stty("-g").trim()
  }

  /** Changes the size of the window, of which the kernel informs the program in the foreground with SIGWINCH. */
  resize(columns: number, rows: number): void {
    this.#emulator.resize(columns, rows)
    this.#stty("cols", String(columns), "rows", String(rows))
  }

  /** Ends all that runs on the terminal. */
  async close(): Promise<void> {
    if (this.#status !== undefined) return
    try {
      process.kill(-this.pid, "SIGKILL")
    } catch {
      // The process has ended by itself.
    }
    // Closing the side of `script` makes the kernel send SIGHUP to what else runs in the session.
    this.#script.kill("SIGKILL")
    await within("the terminal to close", this.#ended)
  }

  #stty(...args: ReadonlyArray<string>): string {
    const { status, stderr, stdout } = spawnSync("stty", ["-F", this.#device, ...args], { encoding: "utf8" })
    if (status !== 0) throw new Error(`stty ${args.join(" ")}: ${stderr}`)
    return stdout
  }
}

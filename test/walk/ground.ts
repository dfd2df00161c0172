/** The surroundings of a walk: an empty home, terminals at the root of the clone, and the cleanup of all it started. */
import { randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { Guard, leftovers, markVariable, type Walk } from "./leftovers.ts"
import { Shell } from "./Shell.ts"
import { browserCommand } from "./signInWithBrowser.ts"

/** The clone of the walk: this one, or the one that `asWritten.ts` uses. */
export const root = resolve(process.env["NARTHEX_TEST_CLONE"] ?? join(import.meta.dirname, "../.."))

/** Without the folders that `npm run` adds: a newcomer has Node and npm, and no package of the lock file yet. */
export const newcomersPath = (path = process.env["PATH"] ?? ""): string =>
  path
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter)

/** The only variables that a terminal inherits from the environment. */
export const inherited = (): Record<string, string> => {
  const names = ["LANG", "NODE_COMPILE_CACHE"]
  const present = names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))
  return { ...Object.fromEntries(present), PATH: newcomersPath() }
}

export class Ground {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "narthex-walk-")))
  readonly walk: Walk
  readonly #terminals: Array<Shell> = []
  readonly #guard: Guard

  /** `folders`: what else the walk makes, and removes at its end; its platform may work there. */
  constructor(folders: ReadonlyArray<string> = []) {
    this.walk = { mark: randomBytes(8).toString("hex"), folders: [this.folder, ...folders] }
    this.#guard = new Guard(this.walk)
  }

  /** The variables by which processes are found again. */
  get mark(): Record<string, string> {
    return { [markVariable]: this.walk.mark }
  }

  /** A newcomer: a home directory that is empty, and a browser that tells where it was sent. */
  newcomer(variables: Readonly<Record<string, string>> = {}) {
    const home = mkdtempSync(join(this.folder, "home-"))
    const bin = join(home, "bin")
    mkdirSync(bin)
    const { address, command } = browserCommand(bin)
    const env = { ...inherited(), ...this.mark, HOME: home, BROWSER: command, ...variables }
    const openTerminal = (): Shell => {
      const shell = new Shell(root, env)
      this.#terminals.push(shell)
      return shell
    }
    return { address, openTerminal }
  }

  async closeTerminals(): Promise<void> {
    await Promise.all(this.#terminals.splice(0).map((terminal) => terminal.close()))
  }

  leftovers(): ReadonlyArray<string> {
    return leftovers(this.walk)
  }

  /** Ends whatever still runs and removes what was written. */
  async leave(): Promise<void> {
    await this.closeTerminals()
    await this.#guard.end()
  }
}

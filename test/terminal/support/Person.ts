/** A person at a terminal: a home directory, an API key of the platform, and the bundled command line. */
import { mkdtempSync } from "node:fs"
import { join } from "node:path"
import { createClient } from "@narthex/api"
import type { Platform } from "../../support/Platform.ts"
import { signInAt } from "../../support/signInAt.ts"
import { programs } from "../../support/surroundings.ts"
import { Terminal, type TerminalOptions } from "../../support/Terminal.ts"

export class Person {
  readonly home: string
  readonly api: string
  readonly key: string
  readonly #open: Array<Terminal> = []

  private constructor(home: string, api: string, key: string) {
    this.home = home
    this.api = api
    this.key = key
  }

  /** `folder`: where the home directory is made. */
  static async at({ ready }: Platform, folder: string, email: string): Promise<Person> {
    const { api, console: web, providers } = ready
    const id_token = await signInAt(providers[0]?.issuer ?? "", `${web}/sign-in/callback`, email)
    const session = await createClient({ baseUrl: api }).auth.exchange({ id_token })
    const client = createClient({ baseUrl: api, credential: session.access_token })
    const { secret } = await client.apiKeys.create({ name: "cli" })
    if (secret === null) throw new Error("The key has no secret.")
    return new Person(mkdtempSync(join(folder, "home-")), api, secret)
  }

  /** The same person, whose platform has moved. */
  movedTo(api: string): Person {
    const moved = new Person(this.home, api, this.key)
    moved.#open.push(...this.#open.splice(0))
    return moved
  }

  get client() {
    return createClient({ baseUrl: this.api, credential: this.key })
  }

  /** Types a command line into `sh`, on a terminal of its own. `narthex` is the bundled one. */
  async types(line: string, { environment = {}, ...options }: TerminalOptions = {}): Promise<Terminal> {
    const script = `narthex() { "${process.execPath}" "${programs.cli}" "$@"; }; ${line}`
    return this.#kept(["sh", "-c", script], environment, options)
  }

  /** Runs the bundled command line as the terminal's only program. */
  async narthex(
    args: ReadonlyArray<string>,
    { environment = {}, ...options }: TerminalOptions = {}
  ): Promise<Terminal> {
    return this.#kept([process.execPath, programs.cli, ...args], environment, options)
  }

  async leave(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((terminal) => terminal.close()))
  }

  async #kept(words: ReadonlyArray<string>, environment: Readonly<Record<string, string>>, options: TerminalOptions) {
    const terminal = await Terminal.run(words, {
      ...options,
      cwd: this.home,
      environment: {
        HOME: this.home,
        BROWSER: "/bin/true",
        NARTHEX_URL: this.api,
        NARTHEX_API_KEY: this.key,
        NARTHEX_NO_UPDATE_NOTIFIER: "1",
        ...environment
      }
    })
    this.#open.push(terminal)
    return terminal
  }
}

/** The command line on a real terminal, against the platform: login, questions, waiting, psql, and the documentation. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { sharedBrowser } from "../harness/browser.ts"
import { Platform } from "../support/Platform.ts"
import { emptyDirectory, ownAccount } from "../support/surroundings.ts"
import { keys, type Terminal } from "../support/Terminal.ts"
import { signInWithBrowser } from "../walk/signInWithBrowser.ts"
import { documentedLines, normalized } from "./support/commandLines.ts"
import { Person } from "./support/Person.ts"
import { type Transcript, transcripts } from "./support/transcripts.ts"

/** Milliseconds. Each wait has a shorter limit and names what it waited for. */
const hangGuard = 600_000

/** The characters that a line of progress begins with. */
const spinner = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/

describe("the command line on a terminal", { tags: ["terminal"], timeout: hangGuard }, () => {
  const directory = emptyDirectory(ownAccount)
  let platform: Platform
  let ada: Person

  beforeAll(async () => {
    platform = await Platform.start(directory.path, ownAccount, { NARTHEX_REGIONS: "eu-1" })
    ada = await Person.at(platform, directory.path, "ada@example.com")
    await ada.client.projects.create({ name: "shop" })
  })

  afterEach(() => ada.leave())

  afterAll(async () => {
    await platform.clear()
    directory.remove()
  })

  /** A login stores its key in a home without one. */
  const withoutKey = { NARTHEX_API_KEY: "" }
  const stored = (home: string) =>
    existsSync(join(home, ".config", "narthex")) ? readdirSync(join(home, ".config", "narthex")) : []

  describe("login", () => {
    it("Ctrl-C ends a login with 130, and leaves no file and no half-drawn line", async () => {
      const newcomer = await Person.at(platform, directory.path, "ada@example.com")
      const terminal = await newcomer.narthex(["login"], { columns: 100, environment: withoutKey })
      await terminal.shows(/Open this URL to authorize the command line:\nhttp:\S+\/cli\/authorize\?\S+/)
      await terminal.shows(/ Waiting for the browser$/)
      terminal.type(keys.ctrlC)
      assert.strictEqual(await terminal.ends(), 130)
      assert.notMatch(terminal.text, spinner)
      assert.notMatch(terminal.text, /Waiting for the browser/)
      assert.deepStrictEqual(stored(newcomer.home), [])
    })

    it("a login without a browser reads pasted lines, outlives Ctrl-D, and ends with Ctrl-C", async () => {
      const newcomer = await Person.at(platform, directory.path, "ada@example.com")
      const terminal = await newcomer.narthex(["login", "--no-browser"], { environment: withoutKey })
      await terminal.shows(/paste the URL from its address bar here\./)
      terminal.enter("http://example.com/")
      await terminal.shows(/This is not the expected URL, which begins with http:\/\/127\.0\.0\.1:\d+\/callback\?/)
      terminal.type(keys.ctrlD)
      terminal.type(keys.ctrlC)
      assert.strictEqual(await terminal.ends(), 130)
      assert.deepStrictEqual(stored(newcomer.home), [])
    })

    it("a login that is authorized in the browser says who signed in", { tags: ["chromium"] }, async () => {
      const newcomer = await Person.at(platform, directory.path, "ada@example.com")
      const terminal = await newcomer.narthex(["login"], { columns: 60, environment: withoutKey })
      const [, address = ""] = await terminal.shows(/command line:\n(http:\S+)\n/)
      const browser = await sharedBrowser()
      await signInWithBrowser(browser, address, "ada@example.com").finally(() => browser.close())
      assert.strictEqual(await terminal.ends(), 0)
      assert.match(terminal.text, /\nSigned in as ada@example\.com in .+; the key is stored as context "default"\.$/)
      assert.notMatch(terminal.text, spinner)
      const who = await newcomer.narthex(["whoami"], { environment: withoutKey })
      assert.strictEqual(await who.ends(), 0)
      assert.match(who.text, /^user +ada@example\.com$/m)
    })
  })

  describe("questions", () => {
    const question = /The project shop \(\S+\) will be deleted.+ Continue\? \[y\/N\]$/

    for (const [what, typed] of [
      ["no", "n\r"],
      ["an empty line", "\r"],
      ["Ctrl-D", keys.ctrlD]
    ] as const)
      it(`${what} changes nothing, exits with 3, and the answer has a line of its own`, async () => {
        const terminal = await ada.narthex(["project", "delete", "shop"], { columns: 200 })
        await terminal.shows(question)
        terminal.type(typed)
        assert.strictEqual(await terminal.ends(), 3)
        assert.strictEqual(terminal.rows.at(-1), "Nothing was changed.")
      })

    it("Ctrl-C at a question exits with 130, and the shell goes on on a line of its own", async () => {
      const terminal = await ada.narthex(["project", "delete", "shop"], { columns: 200 })
      await terminal.shows(question)
      terminal.type(keys.ctrlC)
      assert.strictEqual(await terminal.ends(), 130)
      assert.strictEqual(terminal.column, 0)
      assert.strictEqual((await ada.client.projects.list({})).projects.length, 1)
    })

    it("yes deletes", async () => {
      const { project } = await ada.client.projects.create({ name: "gone" })
      const terminal = await ada.narthex(["project", "delete", "gone"], { columns: 200 })
      await terminal.shows(/The project gone \(\S+\) will be deleted.+ Continue\? \[y\/N\]$/)
      terminal.enter("yes")
      assert.strictEqual(await terminal.ends(), 0)
      assert.match(terminal.text, /\nThe project is deleted\. /)
      const { projects } = await ada.client.projects.list({})
      assert.notInclude(
        projects.map(({ id }) => id),
        project.id
      )
    })

    it("nothing is asked when standard input is no terminal, although the screen is one", async () => {
      const terminal = await ada.types("narthex project delete shop </dev/null", { columns: 200 })
      assert.strictEqual(await terminal.ends(), 2)
      assert.notMatch(terminal.text, /Continue\?/)
      assert.match(terminal.text, /--yes is required/)
    })
  })

  describe("waiting", () => {
    it("--wait leaves the final state and one line behind on a narrow terminal", async () => {
      const args = ["branch", "create", "preview", "--project", "shop", "--wait"]
      const terminal = await ada.narthex(args, { columns: 40 })
      assert.strictEqual(await terminal.ends(), 0)
      assert.notMatch(terminal.text, spinner)
      assert.match(terminal.text, /^Done after \d+\.\d s\.\nbranch +br-[\s\S]*\nstate +ready\n[\s\S]*\nTo connect: .+$/)
    })
  })

  describe("psql", { tags: ["psql"] }, () => {
    it("psql has the terminal: it prompts, Ctrl-C cancels a statement alone, and its settings come back", async () => {
      const terminal = await ada.types(
        'trap : INT; stty -g >before; narthex psql shop; code=$?; stty -g >after; cmp before after && echo "ended $code"',
        { columns: 120 }
      )
      await terminal.shows(/postgres=>$/)
      terminal.enter("select 40 + 2 as answer;")
      await terminal.shows(/answer *\n-+\n +42\n\(1 row\)\n\npostgres=>$/)
      terminal.enter("do $$ begin raise notice 'it runs'; perform pg_sleep(600); end $$;")
      await terminal.shows(/\nNOTICE: +it runs$/)
      terminal.type(keys.ctrlC)
      await terminal.shows(/canceling statement due to user request\n[\s\S]*postgres=>$/)
      terminal.enter("\\q")
      await terminal.shows(/ended 0$/)
      assert.strictEqual(await terminal.ends(), 0)
    })
  })

  describe("the documentation", { tags: ["psql", "jq"] }, () => {
    let grace: Person

    beforeAll(async () => {
      grace = await Person.at(platform, directory.path, "grace@example.com")
      // fish makes this folder when it first runs.
      mkdirSync(join(grace.home, ".config/fish/completions"), { recursive: true })
    })

    afterEach(() => grace.leave())

    it("every command line of the documentation has a transcript", () => {
      const known = Object.entries(transcripts).map(([page, lines]) => [page, lines.map(({ line }) => line)])
      assert.deepStrictEqual(documentedLines(), Object.fromEntries(known))
    })

    const isLogin = (line: string) => line.startsWith("narthex login")

    const play = async ({ does, exits = 0, line }: Transcript): Promise<Terminal> => {
      const environment = isLogin(line) ? { NARTHEX_API_KEY: "" } : {}
      const terminal = await grace.types(line, { columns: 100, environment })
      for (const [shown, typed] of does ?? []) {
        await terminal.shows(shown)
        if (typeof typed === "string") terminal.type(typed)
        else await typed(grace.client)
      }
      assert.strictEqual(await terminal.ends(), exits, `${line}\n${terminal.text}`)
      return terminal
    }

    it("the command lines of the documentation show what their transcripts say", async () => {
      for (const [page, known] of Object.entries(transcripts))
        for (const transcript of known) {
          if ("shell" in transcript) continue
          const shown = normalized((await play(transcript)).text)
          const at = `${page}: ${transcript.line}`
          if (transcript.says instanceof RegExp) assert.match(shown, transcript.says, at)
          else assert.strictEqual(shown, transcript.says.join("\n"), at)
        }
      const written = (file: string) => readFileSync(join(grace.home, file), "utf8")
      assert.match(JSON.parse(written("database.json")).connection_uri, /^postgresql:/)
      assert.include(written(".config/fish/completions/narthex.fish"), "complete -c narthex")
    })
  })
})

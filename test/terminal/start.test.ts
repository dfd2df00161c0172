/** `npm start` on a terminal: what a person reads at the first start, at Ctrl-C, and at the next start. */
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import { resource } from "../harness/resource.ts"
import { endProcessesIn } from "../support/processesIn.ts"
import { signInAt } from "../support/signInAt.ts"
import { emptyDirectory, ownAccount, programs } from "../support/surroundings.ts"
import { keys, Terminal } from "../support/Terminal.ts"

describe("the platform on a terminal", { tags: ["terminal"], timeout: 300_000 }, () => {
  const directory = emptyDirectory(ownAccount)
  const open: Array<Terminal> = []

  beforeAll(() => resource("build"))
  afterAll(async () => {
    await Promise.all(open.map((terminal) => terminal.close()))
    await endProcessesIn(directory.path)
    directory.remove()
  })

  /** Waits until it is up, and returns the addresses that it shows. */
  const start = async () => {
    const terminal = await Terminal.run([process.execPath, programs.platform], {
      columns: 200,
      rows: 60,
      cwd: directory.path,
      environment: {
        NARTHEX_DATA_DIR: join(directory.path, "data"),
        NARTHEX_API_PORT: "0",
        NARTHEX_CONSOLE_PORT: "0",
        NARTHEX_PROXY_PORT: "0",
        NARTHEX_ADMIN_PORT: "0",
        NARTHEX_DEV_PROVIDER_PORTS: "0,0"
      }
    })
    open.push(terminal)
    const [, api = "", web = "", issuer = ""] = await terminal.shows(
      /API +(http:\S+)[\s\S]*Console +(http:\S+)[\s\S]*Sign in with +.+? \((http:\S+)\)[\s\S]*Ctrl-C stops/
    )
    return { terminal, api, web, issuer }
  }

  const stop = async (terminal: Terminal) => {
    terminal.type(keys.ctrlC)
    assert.strictEqual(await terminal.ends(), 0)
    return terminal.text
  }

  it("the first start has one line for all migrations, no ids of fibers, and the next commands", async () => {
    const { api, issuer, terminal, web } = await start()
    assert.notInclude(terminal.text, "(#")
    const migrated = terminal.text.split("\n").filter((line) => /migrat/i.test(line))
    assert.lengthOf(migrated, 1)
    assert.match(migrated[0] ?? "", /^\d\d:\d\d:\d\d +Database ready \(\d+ migrations\)\.$/)
    assert.match(terminal.text, /Next, in another terminal:\n\n.* login\n/)

    const id_token = await signInAt(issuer, `${web}/sign-in/callback`, "ada@example.com")
    await createClient({ baseUrl: api }).auth.exchange({ id_token })
    assert.match(await stop(terminal), /\^C\nStopped\.$/)
  })

  it("a start on a store with an account repeats neither the migrations nor the next commands", async () => {
    const { terminal } = await start()
    assert.notMatch(terminal.text, /migrat/i)
    assert.notInclude(terminal.text, "Next, in another terminal")
    await stop(terminal)
  })
})

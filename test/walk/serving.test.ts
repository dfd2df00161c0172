/**
 * The blocks about serving, run unchanged except for the addresses: instances on a shared Postgres, and the operator's
 * commands.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { type Block, documentedBlocks } from "../../scripts/pages/blocks.ts"
import { until } from "../harness/eventually.ts"
import { resource } from "../harness/resource.ts"
import { servingBlocks } from "../support/documentedBlocks.ts"
import { inherited, root } from "./ground.ts"
import { Guard, type Walk } from "./leftovers.ts"
import { type Running, Shell } from "./Shell.ts"
import { stablePorts } from "./stablePorts.ts"
import { succeeded } from "./walk.ts"

const blockOf = (name: keyof typeof servingBlocks): Block =>
  documentedBlocks.find(servingBlocks[name]) ?? assert.fail(`No page has the block "${name}".`)

/** A directory like the root of the clone, to which files can be added. */
const directory = Effect.acquireRelease(
  Effect.sync(() => {
    const path = realpathSync(mkdtempSync(join(tmpdir(), "narthex-serving-")))
    symlinkSync(join(root, "packages"), join(path, "packages"))
    const walk: Walk = { mark: path, folders: [path] }
    return { path, guard: new Guard(walk) }
  }),
  ({ guard, path }) => Effect.promise(() => guard.end().finally(() => rmSync(path, { recursive: true, force: true })))
).pipe(Effect.map(({ path }) => path))

/** The pinned Node comes first on the path, as the page says. */
const terminal = (cwd: string, variables: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { PATH, ...others } = inherited()
      return new Shell(cwd, { ...others, PATH: `${join(root, "node_modules/.bin")}:${PATH}`, HOME: cwd, ...variables })
    }),
    (shell) => Effect.promise(() => shell.close())
  )

const provider = (id: string) => ({ id, name: id, issuer: `https://${id}.example`, client_ids: ["narthex"] })

const replaced = (text: string, replacements: ReadonlyArray<readonly [string, string]>) =>
  replacements.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`The block no longer has ${from}.`)
    return result.replaceAll(from, to)
  }, text)

/** A directory with the file of providers, settings for free ports, and terminals there. */
const place = Effect.gen(function* () {
  const folder = yield* directory
  const [api, web, proxy, admin] = yield* Effect.promise(() => stablePorts(4))
  writeFileSync(join(folder, "providers.json"), JSON.stringify([provider("one"), provider("two")]))
  const variables = {
    NARTHEX_API_PORT: String(api),
    NARTHEX_CONSOLE_PORT: String(web),
    NARTHEX_PROXY_PORT: String(proxy),
    NARTHEX_ADMIN_PORT: String(admin),
    NARTHEX_DATA_DIR: join(folder, "data")
  }
  return {
    folder,
    api: `http://127.0.0.1:${api}`,
    console: `http://127.0.0.1:${web}`,
    open: terminal(folder, variables)
  }
})

/** Starts a program in a terminal and returns once it has printed its line of JSON. */
const serve = (shell: Shell, what: string, block: string) =>
  Effect.promise(async () => {
    const running = shell.begin(what, block)
    await until(`${what} to print a line`, () => running.stdout().includes("\n")).catch((error: Error) => {
      throw new Error(`${error.message} It said:\n${running.stderr()}`)
    })
    if (!running.stdout().startsWith("{")) assert.fail(`${what} is not up. It said:\n${running.stderr()}`)
    assert.strictEqual(JSON.parse(running.stdout()).ready, true)
    return running
  })

const answers = (url: string) => Effect.promise(async () => assert.strictEqual((await fetch(url)).status, 200, url))

const stops = (running: Running) =>
  Effect.promise(async () => assert.strictEqual((await running.interrupt()).status, 0, running.stderr()))

/** Milliseconds for a whole test. Each wait has a shorter limit and names what it waited for. */
const hangGuard = 600_000

describe("the blocks about serving", { timeout: hangGuard }, () => {
  it.live(
    "the blocks about serving start an instance and a proxy on a shared Postgres, with the operator's commands",
    () =>
      Effect.gen(function* () {
        yield* Effect.promise(() => resource("build"))
        const database = Redacted.value(yield* (yield* PostgresServer).database)
        const { api, console, folder, open } = yield* place

        // The secrets as the page makes them.
        const first = yield* open
        const run = (what: string, block: string) =>
          Effect.map(
            Effect.promise(() => first.run(what, block)),
            succeeded
          )
        yield* run("making secrets", blockOf("makeSecrets").text.replaceAll("/etc/narthex", folder))
        for (const name of ["master", "console", "proxy"])
          assert.match(readFileSync(join(folder, name), "utf8"), /^[\w-]{43}\n$/)

        const block = replaced(blockOf("instances").text, [
          ["postgresql://narthex@db.example.com/narthex", `'${database}'`],
          ["https://api.example.com", api],
          ["https://console.example.com", console]
        ])
        const lines = block.trimEnd().split("\n")
        const settings = lines.filter((line) => line.startsWith("export ")).join("\n")
        const programs = lines.filter((line) => !line.startsWith("export "))
        assert.lengthOf(programs, 2)
        // A person runs each in a separate terminal, or on a separate machine.
        const running = yield* Effect.forEach(programs, (program) =>
          Effect.flatMap(open, (shell) => serve(shell, program, `${settings}\n${program}`))
        )
        yield* answers(`${api}/readyz`)

        // The examination is right to complain: the providers of the block are elsewhere, and cannot be reached from a test.
        const operator = replaced(blockOf("operator").text, [["$server doctor ", "! $server doctor "]])
        const printed = yield* run("the operator's commands", `${settings}\nset -e\n${operator}`)
        assert.include(printed, "NARTHEX_MASTER_SECRET")
        assert.match(printed, /^ok +database /m)
        yield* Effect.forEach(running.toReversed(), stops)
      }).pipe(Effect.scoped, Effect.provide(PostgresServer.layer))
  )

  it.live("the blocks about serving start one machine with real providers", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() => resource("build"))
      const { api, open } = yield* place
      // `npm start` ends with this program, after it has set up and built.
      const block = replaced(blockOf("oneMachine").text, [
        ["npm start", "node packages/server/dist/narthex-platform.js"]
      ])
      const running = yield* serve(yield* open, "npm start", block)
      const said = JSON.parse(running.stdout())
      assert.strictEqual(said.api, "https://api.example.com")
      assert.include(readFileSync(`/proc/${said.pid}/cmdline`, "utf8"), "packages/server/dist/narthex-platform.js")
      assert.deepStrictEqual(
        said.providers.map(({ id }: { readonly id: string }) => id),
        ["one", "two"]
      )
      yield* answers(`${api}/readyz`)
      yield* stops(running)
    }).pipe(Effect.scoped)
  )
})

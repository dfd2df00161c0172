import { existsSync, rmSync, watch, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import { dirname } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { until } from "../../../test/harness/eventually.ts"
import { signedIn, withShop } from "./support/signedIn.ts"

describe("org and context", () => {
  it.live("org list prints the contexts of each organization", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const [only] = JSON.parse((yield* run(["org", "list", "-o", "json"])).stdout).organizations
      assert.deepInclude(only, { name: "Acme", role: "owner", contexts: ["default"] })
    }).pipe(Effect.scoped)
  )

  it.live("org usage prints what the organization holds of each quota, and how much it may have", () =>
    Effect.gen(function* () {
      const { acme, client, plane, run } = yield* withShop()
      const real = yield* Effect.promise(() => client.orgs.usage({ org_id: acme.id }))
      const { stdout } = yield* run(["org", "usage"])
      assert.match(stdout, /projects +1 +100/)
      assert.deepStrictEqual(JSON.parse((yield* run(["org", "usage", "-o", "json"])).stdout), real)
      const usage = [
        { quota: "disk_bytes", held: 1.5 * 1024 ** 3, allowed: 200 * 1024 ** 3 },
        { quota: "of_a_newer_server", held: 1, allowed: 2 }
      ]
      plane.instead = ({ path }) => (path.endsWith("/usage") ? Response.json({ usage }) : undefined)
      const newer = yield* run(["org", "usage"])
      assert.strictEqual(newer.code, 0)
      for (const row of [/disk +1\.50 GiB +200\.00 GiB/, /of_a_newer_server +1 +2/]) assert.match(newer.stdout, row)
    }).pipe(Effect.scoped)
  )

  it.live("org switch selects a context by the name or id of its organization, or by its own name", () =>
    Effect.gen(function* () {
      const { found, login, run, stored } = yield* signedIn
      const other = yield* Effect.promise(() => found("Other"))
      yield* login("second", other.client)
      assert.strictEqual(stored().current, "second")
      for (const [wanted, context] of [
        ["Acme", "default"],
        [other.id, "second"],
        ["default", "default"]
      ] as const) {
        assert.strictEqual((yield* run(["org", "switch", wanted])).code, 0)
        assert.strictEqual(stored().current, context)
      }
    }).pipe(Effect.scoped)
  )

  it.live("org switch without a stored key prints the login command and exits with 4", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const { code, stderr } = yield* run(["org", "switch", "Big Corp"])
      assert.strictEqual(code, 4)
      assert.match(stderr, /hint: narthex login --context big-corp, and choose the organization/)
    }).pipe(Effect.scoped)
  )

  it.live("org switch without a stored key offers the login on a terminal", () =>
    Effect.gen(function* () {
      const { authorize, found, run, stored } = yield* signedIn
      const other = yield* Effect.promise(() => found("Other"))
      const open = (url: string) =>
        Effect.promise(async () => {
          await fetch(await authorize(url, other.client))
          return true
        })
      const declined = yield* run(["org", "switch", "Other"], { terminal: true, stdin: "\n", open })
      assert.strictEqual(declined.code, 4)
      const { code } = yield* run(["org", "switch", "Other"], { terminal: true, stdin: "y\n", open })
      assert.strictEqual(code, 0)
      assert.strictEqual(stored().current, "other")
    }).pipe(Effect.scoped)
  )

  it.live("context list marks the current context, and prints no secret", () =>
    Effect.gen(function* () {
      const { client, login, run } = yield* signedIn
      yield* login("acme")
      const lasting = yield* Effect.promise(() => client.apiKeys.create({ name: "ci", expires_in_days: 90 }))
      yield* run(["login", "--with-token", "--context", "ci"], { stdin: lasting.secret ?? "" })
      yield* run(["context", "use", "acme"])
      const { stdout } = yield* run(["context", "list"])
      assert.match(stdout, /\n- {8}default {2}Acme/)
      assert.match(stdout, /\n\* {8}acme {5}Acme/)
      const json = (yield* run(["context", "list", "-o", "json"])).stdout
      assert.notInclude(stdout + json, "nsk_")
      const terminal = yield* run(["context", "list"], { terminal: true })
      assert.match(terminal.stdout, /^- +ci .* \d{4}-\d\d-\d\d$/m)
    }).pipe(Effect.scoped)
  )

  it.live("context use changes the current context, and warns about a variable that takes precedence", () =>
    Effect.gen(function* () {
      const { login, run, setting, stored } = yield* signedIn
      yield* login("acme")
      const variables = { ...setting.variables, NARTHEX_CONTEXT: "acme" }
      const { code, stderr } = yield* run(["context", "use", "default"], { variables })
      assert.strictEqual(code, 0)
      assert.match(stderr, /warning: NARTHEX_CONTEXT is set/)
      assert.strictEqual(stored().current, "default")
      assert.strictEqual((yield* run(["context", "use", "gone"])).code, 4)
      assert.strictEqual((yield* run(["context", "use", "../x"])).code, 2)
    }).pipe(Effect.scoped)
  )

  it.live("context remove of a context that does not exist fails, and logout of it does not", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const { code, stderr } = yield* run(["context", "remove", "nope", "-o", "json"])
      assert.strictEqual(code, 1)
      assert.deepInclude(JSON.parse(stderr), { code: "no_such_context", detail: 'There is no context "nope".' })
      assert.strictEqual((yield* run(["logout", "--context", "nope"])).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("org list says on a terminal that a key sees its own organization only", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const { stderr } = yield* run(["org", "list"], { terminal: true })
      assert.match(stderr, /An API key sees its own organization only\..*narthex open/)
      assert.strictEqual((yield* run(["org", "list"])).stderr, "")
    }).pipe(Effect.scoped)
  )

  it.live("open prints the console's page of the organization or of a project, and opens it", () =>
    Effect.gen(function* () {
      const { acme, run, shop } = yield* withShop()
      const opened: Array<string> = []
      const open = (url: string) => Effect.sync(() => opened.push(url) > 0)
      const home = `http://console.test/orgs/${acme.id}/projects`
      assert.deepStrictEqual(yield* run(["open"], { open }), { code: 0, stdout: `${home}\n`, stderr: "" })
      const project = yield* run(["open", shop, "-o", "json"])
      assert.deepStrictEqual(JSON.parse(project.stdout), { url: `${home}/${shop}` })
      assert.match(project.stderr, /No browser could be opened/)
      assert.deepStrictEqual(opened, [home])
      const page = yield* run(["project", "get", shop, "--web"], { open })
      assert.deepStrictEqual(page, { code: 0, stdout: `${home}/${shop}\n`, stderr: "" })
      assert.strictEqual((yield* run(["org", "get", "--web"], { open })).stdout, `${home}\n`)
      assert.deepStrictEqual(opened, [home, `${home}/${shop}`, home])
    }).pipe(Effect.scoped)
  )

  it.live("a change waits for the process that holds the lock of the file", () =>
    Effect.gen(function* () {
      const { file, login, run, stored } = yield* signedIn
      yield* login("acme")
      writeFileSync(`${file}.lock`, `${hostname()} ${process.pid} another`)
      // Each attempt compares the age of the lock with that of a file that it makes for that.
      let looks = 0
      const watcher = yield* Effect.acquireRelease(
        Effect.sync(() => watch(dirname(file))),
        (it) => Effect.sync(() => it.close())
      )
      watcher.on("change", (_, name) => {
        if (/\.lock\.[0-9a-f]+$/.test(String(name)) && existsSync(`${file}.lock`)) looks += 1
      })
      const change = yield* Effect.forkChild(run(["context", "use", "default"]))
      const hasEnded = () => change.pollUnsafe() !== undefined
      yield* Effect.promise(() => until("several attempts to take the lock", () => looks >= 3 || hasEnded()))
      assert.isFalse(hasEnded(), "the change does not wait")
      assert.strictEqual(stored().current, "acme")
      rmSync(`${file}.lock`)
      assert.strictEqual((yield* Fiber.join(change)).code, 0)
      assert.strictEqual(stored().current, "default")
    }).pipe(Effect.scoped)
  )

  it.live("context remove revokes the key and deletes the context", () =>
    Effect.gen(function* () {
      const { keys, run, stored } = yield* signedIn
      assert.strictEqual((yield* run(["context", "remove", "default"])).code, 0)
      assert.lengthOf(yield* keys, 0)
      assert.deepStrictEqual(stored(), { version: 1, current: null, contexts: {} })
    }).pipe(Effect.scoped)
  )
})

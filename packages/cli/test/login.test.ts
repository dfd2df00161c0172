import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { within } from "../../../test/harness/eventually.ts"
import { runNarthex, type Setting } from "./support/runNarthex.ts"
import { inAcme } from "./support/signedIn.ts"

/** The API's list of providers, with this address of the console. */
const withConsole =
  (console_url: string | null) =>
  ({ path }: { readonly path: string }) =>
    path === "/v1/auth/providers" ? Response.json({ providers: [], console_url }) : undefined

const setUp = Effect.gen(function* () {
  const world = yield* inAcme()
  const { authorize, file, home, plane } = world
  plane.instead = withConsole("http://console.test")
  const opened: Array<string> = []
  /** A browser with a signed-in user, who clicks Authorize at once. */
  const open = (url: string) =>
    Effect.promise(async () => {
      opened.push(url)
      await fetch(await authorize(url))
      return true
    })
  const setting: Setting = { home, variables: { NARTHEX_URL: plane.url }, open }
  return { ...world, opened, setting, stored: () => JSON.parse(readFileSync(file, "utf8")) }
})

describe("login", () => {
  it.live("login opens the console with state, redirect and challenge, and stores the key with mode 0600", () =>
    Effect.gen(function* () {
      const { file, keys, opened, plane, setting, stored } = yield* setUp
      const run = yield* runNarthex(["login", "--name", "laptop"], setting)
      assert.strictEqual(run.code, 0)
      assert.match(run.stdout, /^Signed in as ada@example\.com in Acme; the key is stored as context "default"\.\n$/)

      const [address = ""] = opened
      assert.include(run.stderr.split("\n"), address, "the URL is on a line of its own")
      const url = new URL(address)
      assert.strictEqual(url.origin + url.pathname, "http://console.test/cli/authorize")
      assert.deepStrictEqual(
        [...url.searchParams.keys()],
        ["state", "redirect_uri", "code_challenge", "code_challenge_method", "name"]
      )
      assert.match(url.searchParams.get("state") ?? "", /^[\w-]{43}$/)
      assert.match(url.searchParams.get("redirect_uri") ?? "", /^http:\/\/127\.0\.0\.1:\d{4,5}\/callback$/)
      assert.strictEqual(url.searchParams.get("code_challenge_method"), "S256")
      assert.strictEqual(url.searchParams.get("name"), "laptop")

      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const [key] = yield* keys
      assert.match(stored().contexts.default.secret, /^nsk_/)
      assert.strictEqual(stored().contexts.default.organization.name, "Acme")
      const text = readFileSync(file, "utf8")
      assert.notInclude(text, url.searchParams.get("state") ?? "?")
      assert.strictEqual(
        plane.requests.find(({ path }) => path === "/v1/cli/exchange")?.headers.authorization,
        undefined
      )
      assert.notInclude(run.stdout + run.stderr, "nsk_")

      const who = yield* runNarthex(["whoami", "-o", "json"], { ...setting, variables: {} })
      assert.strictEqual(JSON.parse(who.stdout).api_key.id, key?.id, "the stored server is used without NARTHEX_URL")
    }).pipe(Effect.scoped)
  )

  it.live("login stores the new key, then revokes the key that it replaces", () =>
    Effect.gen(function* () {
      const { file, keys, plane, setting, stored } = yield* setUp
      yield* runNarthex(["login"], setting)
      const [old] = yield* keys
      const { secret } = stored().contexts.default
      let present = ""
      const console = plane.instead
      plane.instead = (asked) => {
        if (asked.method === "DELETE") present = readFileSync(file, "utf8")
        return console?.(asked)
      }
      const run = yield* runNarthex(["login"], setting)
      assert.strictEqual(run.code, 0)
      const [kept, ...others] = yield* keys
      assert.deepStrictEqual(others, [])
      assert.notStrictEqual(kept?.id, old?.id)
      assert.include(present, stored().contexts.default.secret)
      assert.notInclude(present, secret)
    }).pipe(Effect.scoped)
  )

  it.live("login --context stores a second key and keeps the first", () =>
    Effect.gen(function* () {
      const { keys, setting, stored } = yield* setUp
      yield* runNarthex(["login"], setting)
      const run = yield* runNarthex(["login", "--context", "acme"], setting)
      assert.strictEqual(run.code, 0)
      assert.deepStrictEqual(Object.keys(stored().contexts), ["default", "acme"])
      assert.strictEqual(stored().current, "acme")
      assert.lengthOf(yield* keys, 2)
    }).pipe(Effect.scoped)
  )

  it.live("a cancelled login prints so and stores nothing", () =>
    Effect.gen(function* () {
      const { file, setting } = yield* setUp
      const open = (url: string) =>
        Effect.promise(async () => {
          const query = new URL(url).searchParams
          await fetch(`${query.get("redirect_uri")}?error=access_denied&state=${query.get("state")}`)
          return true
        })
      const run = yield* runNarthex(["login"], { ...setting, open })
      assert.strictEqual(run.code, 1)
      assert.match(run.stderr, /error: The login was cancelled in the browser\.\n {2}hint: narthex login\n$/)
      assert.strictEqual(run.stdout, "")
      assert.isFalse(existsSync(file))
    }).pipe(Effect.scoped)
  )

  it.effect("login fails after exactly five minutes, and prints the alternatives", () =>
    Effect.gen(function* () {
      const { keys, setting } = yield* setUp
      let isWaiting = () => {}
      const waiting = new Promise<void>((resolve) => {
        isWaiting = resolve
      })
      const open = () => Effect.as(Effect.sync(isWaiting), true)
      const run = yield* Effect.forkChild(runNarthex(["login"], { ...setting, open }))
      yield* Effect.promise(() => within("the browser to be opened", waiting))
      yield* Effect.yieldNow
      yield* TestClock.adjust("299 seconds")
      assert.isUndefined(run.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const { code, stderr } = yield* Fiber.join(run)
      assert.strictEqual(code, 1)
      assert.match(stderr, /The login was not authorized within 5 minutes\.\n {2}hint: .*--no-browser.*--with-token/)
      assert.lengthOf(yield* keys, 0)
    }).pipe(Effect.scoped)
  )

  it.live("login --no-browser accepts the redirect URL pasted on standard input", () =>
    Effect.gen(function* () {
      const { authorize, keys, setting } = yield* setUp
      // The redirect URL is known only when the command has printed its own URL, so standard input waits for it.
      let paste = (_: string) => {}
      const pasted = new Promise<string>((resolve) => {
        paste = resolve
      })
      const stdin = Effect.map(
        Effect.promise(() => within("the address to paste", pasted)),
        (line) => new TextEncoder().encode(`nonsense\n${line}\n`)
      )
      const run = yield* runNarthex(["login", "--no-browser"], {
        ...setting,
        stdinLater: stdin,
        onNote: (line) => {
          if (line.includes("/cli/authorize?")) void authorize(line).then((back) => paste(String(back)))
        },
        open: () => Effect.die("a browser was opened")
      })
      assert.strictEqual(run.code, 0)
      assert.match(run.stderr, /paste the URL from its address bar/)
      assert.match(run.stderr, /This is not the expected URL/)
      assert.lengthOf(yield* keys, 1)
    }).pipe(Effect.scoped)
  )

  it.live("login --no-browser waits for the callback after the end of standard input", () =>
    Effect.gen(function* () {
      const { authorize, setting } = yield* setUp
      const run = yield* runNarthex(["login", "--no-browser"], {
        ...setting,
        onNote: (line) => {
          if (line.includes("/cli/authorize?")) void authorize(line).then(fetch)
        }
      })
      assert.strictEqual(run.code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("login over SSH reads standard input, and prints how to forward the port", () =>
    Effect.gen(function* () {
      const { keys, setting } = yield* setUp
      const variables = { ...setting.variables, SSH_CONNECTION: "a b c d" }
      const run = yield* runNarthex(["login"], { ...setting, variables })
      assert.strictEqual(run.code, 0)
      const port = /127\.0\.0\.1%3A(\d+)%2Fcallback/.exec(run.stderr)?.[1]
      assert.include(run.stderr, `ssh -L ${port}:127.0.0.1:${port} `)
      assert.lengthOf(yield* keys, 1)
    }).pipe(Effect.scoped)
  )

  it.live("login without a working browser is not an error", () =>
    Effect.gen(function* () {
      const { authorize, opened, setting } = yield* setUp
      const open = (url: string) =>
        Effect.sync(() => {
          opened.push(url)
          void authorize(url).then(fetch)
          return false
        })
      const run = yield* runNarthex(["login"], { ...setting, open })
      assert.strictEqual(run.code, 0)
      assert.match(run.stderr, /No browser could be opened/)
    }).pipe(Effect.scoped)
  )

  it.live("login warns if NARTHEX_API_KEY is set, and continues", () =>
    Effect.gen(function* () {
      const { setting } = yield* setUp
      const run = yield* runNarthex(["login"], {
        ...setting,
        variables: { ...setting.variables, NARTHEX_API_KEY: "x" }
      })
      assert.strictEqual(run.code, 0)
      assert.match(run.stderr, /^warning: NARTHEX_API_KEY is set and takes precedence/)
    }).pipe(Effect.scoped)
  )

  it.live("login opens only a web address, whatever the server returns", () =>
    Effect.gen(function* () {
      const { opened, plane, setting } = yield* setUp
      plane.instead = withConsole("file:///etc/passwd")
      assert.strictEqual((yield* runNarthex(["login"], setting)).code, 2)
      plane.instead = withConsole(null)
      const run = yield* runNarthex(["login"], setting)
      assert.strictEqual(run.code, 1)
      assert.match(run.stderr, /This server has no console/)
      assert.deepStrictEqual(opened, [])
    }).pipe(Effect.scoped)
  )

  it.live("login prefers NARTHEX_CONSOLE_URL to the console of the server", () =>
    Effect.gen(function* () {
      const { opened, setting } = yield* setUp
      const variables = { ...setting.variables, NARTHEX_CONSOLE_URL: "https://mine.example/" }
      yield* runNarthex(["login"], { ...setting, variables })
      assert.match(opened[0] ?? "", /^https:\/\/mine\.example\/cli\/authorize\?/)
    }).pipe(Effect.scoped)
  )

  it.live("login changes nothing if the credentials file cannot be decoded", () =>
    Effect.gen(function* () {
      const { file, opened, setting } = yield* setUp
      yield* runNarthex(["login"], setting)
      writeFileSync(file, "{ not ours")
      opened.length = 0
      const run = yield* runNarthex(["login"], setting)
      assert.strictEqual(run.code, 1)
      assert.match(run.stderr, /is not a credentials file that this version of narthex can read/)
      assert.deepStrictEqual(opened, [])
      assert.strictEqual(readFileSync(file, "utf8"), "{ not ours")
    }).pipe(Effect.scoped)
  )
})

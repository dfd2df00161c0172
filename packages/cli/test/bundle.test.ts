import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, within } from "../../../test/harness/eventually.ts"
import { bundle } from "../bundle.ts"
import { version } from "../src/environment/version.ts"
import { ended, printed, text } from "./support/ended.ts"
import { inAcme } from "./support/signedIn.ts"
import { counting, startUpOf } from "./support/startUp.ts"

/** A folder without a `node_modules` above it, so that the bundle can load nothing but itself. */
const folder = mkdtempSync(join(tmpdir(), "narthex-bundle-"))
const dist = join(folder, "dist")
const file = join(dist, "narthex.cjs")

beforeAll(() => bundle(dist))
const children = new Set<ChildProcessWithoutNullStreams>()
afterEach(() => {
  for (const child of children) child.kill("SIGKILL")
  children.clear()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Limits in bytes, a tenth above the present sizes: of the bundle, and of the parts that one command or flag loads. */
const mostBytes = 777_000
const mostBytesOf = { "jq.cjs": 1_400_000, "mcp.cjs": 251_000 }

const start = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
  run([file, ...args], variables)

const run = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) => {
  const env = { HOME: folder, DISPLAY: ":0", ...variables }
  const child = spawn(process.execPath, [...args], { cwd: folder, env })
  children.add(child)
  return child
}

/** An organization, and the variables that lead a command to it. */
const withKey = Effect.gen(function* () {
  const world = yield* inAcme()
  const { secret } = yield* Effect.promise(() => world.addKey())
  return { ...world, variables: { NARTHEX_URL: world.plane.url, NARTHEX_API_KEY: secret } }
})

describe("the bundle", () => {
  it("the bundle is one small file, with jq and the MCP server next to it", () => {
    assert.deepStrictEqual(readdirSync(dist).toSorted(), ["jq.cjs", "mcp.cjs", "narthex.cjs"])
    assert.isBelow(statSync(file).size, mostBytes)
    for (const [name, most] of Object.entries(mostBytesOf)) assert.isBelow(statSync(join(dist, name)).size, most)
  })

  it("--version prints the version on stdout and exits with 0", async () => {
    assert.deepStrictEqual(await ended(start(["--version"])), { code: 0, stdout: `narthex v${version}\n`, stderr: "" })
  })

  it("the bundle starts from its own files alone, without a connection", async () => {
    const { code, stderr } = await ended(run([...counting(dist), file, "--version"]))
    const { files, sockets } = startUpOf(stderr)
    assert.deepStrictEqual([code, sockets, files], [0, 0, [pathToFileURL(file).href]])
  })

  it.live("a call of the API loads neither jq, nor the MCP server, nor the client of fetch", () =>
    Effect.gen(function* () {
      const { variables } = yield* withKey
      const { code, stderr } = yield* Effect.promise(() => ended(run([...counting("*"), file, "whoami"], variables)))
      const { builtins, files } = startUpOf(stderr)
      assert.deepStrictEqual([code, files], [0, [pathToFileURL(file).href]])
      assert.notInclude(builtins, "internal/deps/undici/undici")
    }).pipe(Effect.scoped)
  )

  it("the start-up counter notices a file that is read and a connection that is opened", async () => {
    const reading = await ended(run([...counting(dist), file, "whoami"]))
    assert.strictEqual(reading.code, 1)
    assert.match(reading.stderr, /credentials\.json could not be read/)
    await Effect.runPromise(
      Effect.gen(function* () {
        const { variables } = yield* withKey
        const calling = yield* Effect.promise(() => ended(run([...counting("*"), file, "whoami"], variables)))
        assert.deepStrictEqual([calling.code, startUpOf(calling.stderr).sockets], [0, 1])
      }).pipe(Effect.scoped)
    )
  })

  it("a command without a credential prints a hint on stderr and exits with 4", async () => {
    assert.deepStrictEqual(await ended(start(["whoami"])), {
      code: 4,
      stdout: "",
      stderr: "error: You are not signed in.\n  hint: narthex login, or set NARTHEX_API_KEY\n"
    })
  })

  it("a mistyped command prints a suggestion on stderr and exits with 2", async () => {
    const { code, stderr, stdout } = await ended(start(["ip-allow", "ad"]))
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.match(stderr, /hint: did you mean add\?/)
  })

  it.live("a command prints only its result on stdout", () =>
    Effect.gen(function* () {
      const { variables } = yield* withKey
      const { code, stderr, stdout } = yield* Effect.promise(() =>
        ended(start(["region", "list", "-o", "json"], variables))
      )
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(JSON.parse(stdout).regions[0].region_id, "eu")
    }).pipe(Effect.scoped)
  )

  it.live("logins of several processes at once lose no context", () =>
    Effect.gen(function* () {
      const { addKey, plane } = yield* inAcme()
      const home = join(folder, "crowded")
      const names = ["a", "b", "c", "d", "e"]
      const logins = names.map(async (name) => {
        const { secret } = await addKey(name)
        const child = start(["login", "--with-token", "--context", name], { NARTHEX_URL: plane.url, HOME: home })
        child.stdin.end(secret)
        return ended(child)
      })
      const codes = yield* Effect.promise(() => Promise.all(logins))
      assert.deepStrictEqual(
        codes.map(({ code }) => code),
        names.map(() => 0)
      )
      const kept = JSON.parse(readFileSync(join(home, ".config", "narthex", "credentials.json"), "utf8"))
      assert.deepStrictEqual(Object.keys(kept.contexts).toSorted(), names)
      assert.deepStrictEqual(readdirSync(join(home, ".config", "narthex")), ["credentials.json"])
    }).pipe(Effect.scoped)
  )

  it.live("login ends while standard input stays open", () =>
    Effect.gen(function* () {
      const { authorize, keys, plane } = yield* inAcme()
      const home = join(folder, "home")
      const variables = { NARTHEX_URL: plane.url, NARTHEX_CONSOLE_URL: "http://console.test", HOME: home }
      const child = start(["login", "--no-browser"], variables)
      const end = ended(child)
      const url = yield* Effect.promise(() => printed(child.stderr, /http:\S+\/cli\/authorize\?\S+(?=\n)/))
      yield* Effect.promise(async () => fetch(await authorize(url)))
      const { code, stdout } = yield* Effect.promise(() => end)
      assert.strictEqual(code, 0)
      assert.match(stdout, /^Signed in as ada@example\.com/)
      assert.strictEqual(statSync(join(home, ".config", "narthex", "credentials.json")).mode & 0o777, 0o600)
      const out = yield* Effect.promise(() => ended(start(["logout"], { HOME: home })))
      assert.deepStrictEqual([out.code, yield* keys], [0, []])
    }).pipe(Effect.scoped)
  )

  it.live("an interrupted command exits with 130", () =>
    Effect.gen(function* () {
      const { plane, variables } = yield* withKey
      const child = start(["events", "tail"], variables)
      const end = ended(child)
      yield* eventually(
        "the stream to be open",
        Effect.sync(() => plane.streams > 0)
      )
      child.kill("SIGINT")
      assert.deepStrictEqual(yield* Effect.promise(() => end), { code: 130, stdout: "", stderr: "" })
    }).pipe(Effect.scoped)
  )

  it("a command prints no error when the reader of its output has exited", async () => {
    const child = start(["completion", "bash"])
    child.stdout.destroy()
    const stderr = text(child.stderr)
    await within("the command to end", once(child, "close"))
    assert.strictEqual(stderr(), "")
  })
})

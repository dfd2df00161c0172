import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, within } from "../../../test/harness/eventually.ts"
import { bundle } from "../bundle.ts"
import { version } from "../src/environment/version.ts"
import { ControlPlane } from "./support/ControlPlane.ts"
import { ended, printed, text } from "./support/ended.ts"
import { callsOf, counting, countingCalls, startUpOf } from "./support/startUp.ts"

/** A folder without a `node_modules` above it, so that the bundle can load nothing but itself. */
const folder = mkdtempSync(join(tmpdir(), "narthex-bundle-"))
const dist = join(folder, "dist")
const file = join(dist, "narthex.cjs")
const parts = join(dist, "parts")

beforeAll(() => bundle(file))
const children = new Set<ChildProcessWithoutNullStreams>()
afterEach(() => {
  for (const child of children) child.kill("SIGKILL")
  children.clear()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/**
 * Limits in bytes, a tenth above the present sizes: of the bundle without jq, and of what one command loads at its
 * start.
 */
const mostBytes = 680_000
/** jq, which is loaded for `--jq` alone. */
const jqBytes = 1_300_000
const mostBytesOfCommand = 553_000

/** Calls of functions in the bundle that a command makes, a tenth above the present numbers. They depend on no machine. */
const mostCallsOfCommand = 50_500

/**
 * Files that one command loads: the entry, the program, what commands share, the command, its group of the contract, what
 * groups share.
 */
const mostFilesOfCommand = 12

/**
 * Modules of Node that take long to load and that a call of the API does not need: the client of `fetch`, cryptography,
 * TLS, processes, streams of files.
 */
const costly = [
  "internal/deps/undici/undici",
  "internal/webstreams/readablestream",
  "internal/fs/promises",
  "child_process",
  "crypto",
  "tls"
]

const start = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}, script = file) =>
  run([script, ...args], variables)

const run = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) => {
  const env = { HOME: folder, DISPLAY: ":0", ...variables }
  const child = spawn(process.execPath, [...args], { cwd: folder, env })
  children.add(child)
  return child
}

describe("the bundle", () => {
  it("the bundle is a small file that loads its parts", () => {
    assert.isBelow(statSync(file).size, 200)
    const sizes = [file, ...readdirSync(parts).map((part) => join(parts, part))].map((path) => statSync(path).size)
    assert.isBelow(
      sizes.reduce((sum, size) => sum + size, 0),
      mostBytes + jqBytes
    )
  })

  it("--version prints the version on stdout and exits with 0", async () => {
    assert.deepStrictEqual(await ended(start(["--version"])), { code: 0, stdout: `narthex v${version}\n`, stderr: "" })
  })

  it("the bundle starts from its own files alone, without a connection", async () => {
    const { code, stderr } = await ended(run([...counting(dist), file, "--version"]))
    const { files, sockets } = startUpOf(stderr)
    assert.deepStrictEqual([code, sockets], [0, 0])
    assert.deepStrictEqual(
      files.filter((url) => !url.startsWith(pathToFileURL(dist).href)),
      []
    )
  })

  it.live("a command loads its own part of the bundle, and no costly module of Node", () =>
    Effect.gen(function* () {
      const plane = yield* ControlPlane.make
      plane.projects.push({ id: "prj-01hzx000000000000000000001", name: "shop", region: "eu" })
      const variables = { NARTHEX_URL: plane.url, NARTHEX_API_KEY: plane.addKey().secret }
      for (const command of [["whoami"], ["project", "list"], ["project", "--help"]]) {
        const { code, stderr } = yield* Effect.promise(() =>
          ended(run([...counting("*"), file, ...command], variables))
        )
        const { builtins, bytes, files } = startUpOf(stderr)
        const said = `${command.join(" ")} loaded ${files.length} files, ${bytes} bytes`
        assert.strictEqual(code, 0, said)
        assert.isAtMost(files.length, mostFilesOfCommand, said)
        assert.isBelow(bytes, mostBytesOfCommand, said)
        assert.deepStrictEqual(
          costly.filter((name) => builtins.includes(name)),
          [],
          said
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("a call of the API takes a bounded number of steps", () =>
    Effect.gen(function* () {
      const plane = yield* ControlPlane.make
      plane.projects.push({ id: "prj-01hzx000000000000000000001", name: "shop", region: "eu" })
      const variables = { NARTHEX_URL: plane.url, NARTHEX_API_KEY: plane.addKey().secret }
      for (const command of [["whoami"], ["project", "list"]]) {
        const { code, stderr } = yield* Effect.promise(() =>
          ended(run([...countingCalls(pathToFileURL(dist).href), file, ...command], variables))
        )
        const calls = callsOf(stderr)
        assert.strictEqual(code, 0)
        assert.isBelow(calls, mostCallsOfCommand, `${command.join(" ")} called ${calls} functions`)
      }
    }).pipe(Effect.scoped)
  )

  it("the start-up counter notices a file that is read and a connection that is opened", async () => {
    const reading = await ended(run([...counting(dist), file, "whoami"]))
    assert.strictEqual(reading.code, 1)
    assert.match(reading.stderr, /credentials\.json could not be read/)
    await Effect.runPromise(
      Effect.gen(function* () {
        const plane = yield* ControlPlane.make
        const variables = { NARTHEX_URL: plane.url, NARTHEX_API_KEY: plane.addKey().secret }
        const calling = yield* Effect.promise(() => ended(run([...counting("*"), file, "whoami"], variables)))
        assert.deepStrictEqual([calling.code, startUpOf(calling.stderr).sockets], [0, 1])
      }).pipe(Effect.scoped)
    )
  })

  it("a part of the bundle that is missing is a sentence, not a silent end", async () => {
    const broken = join(folder, "broken")
    cpSync(dist, broken, { recursive: true })
    for (const part of readdirSync(join(broken, "parts")))
      if (part.startsWith("whoami-")) rmSync(join(broken, "parts", part))
    const { code, stderr } = await ended(start(["whoami"], {}, join(broken, "narthex.cjs")))
    assert.strictEqual(code, 1)
    assert.match(stderr, /^warning: narthex failed unexpectedly\./)
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
      const plane = yield* ControlPlane.make
      const { secret } = plane.addKey()
      const variables = { NARTHEX_URL: plane.url, NARTHEX_API_KEY: secret }
      const { code, stderr, stdout } = yield* Effect.promise(() =>
        ended(start(["region", "list", "-o", "json"], variables))
      )
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.strictEqual(JSON.parse(stdout).regions[0].region_id, "eu")
    }).pipe(Effect.scoped)
  )

  it.live("logins of several processes at once lose no context", () =>
    Effect.gen(function* () {
      const plane = yield* ControlPlane.make
      const home = join(folder, "crowded")
      const names = ["a", "b", "c", "d", "e"]
      const logins = names.map((name) => {
        const child = start(["login", "--with-token", "--context", name], { NARTHEX_URL: plane.url, HOME: home })
        child.stdin.end(plane.addKey(name).secret)
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
      const plane = yield* ControlPlane.make
      const home = join(folder, "home")
      const child = start(["login", "--no-browser"], { NARTHEX_URL: plane.url, HOME: home })
      const end = ended(child)
      const url = yield* Effect.promise(() => printed(child.stderr, /http:\S+\/cli\/authorize\?\S+(?=\n)/))
      yield* Effect.promise(() => fetch(plane.authorize(url)))
      const { code, stdout } = yield* Effect.promise(() => end)
      assert.strictEqual(code, 0)
      assert.match(stdout, /^Signed in as ada@example\.com/)
      assert.strictEqual(statSync(join(home, ".config", "narthex", "credentials.json")).mode & 0o777, 0o600)
      const out = yield* Effect.promise(() => ended(start(["logout"], { HOME: home })))
      assert.deepStrictEqual([out.code, plane.keys.size], [0, 0])
    }).pipe(Effect.scoped)
  )

  it.live("an interrupted command exits with 130", () =>
    Effect.gen(function* () {
      const plane = yield* ControlPlane.make
      const { secret } = plane.addKey()
      const child = start(["events", "tail"], { NARTHEX_URL: plane.url, NARTHEX_API_KEY: secret })
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

/** `bin/narthex.js`: what it answers itself, and where it keeps compiled code (docs/design/cli.md C38, C39). */
import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { bundle } from "../bundle.ts"
import { version } from "../src/environment/version.ts"
import { ended } from "./support/ended.ts"
import { counting, startUpOf } from "./support/startUp.ts"

/** A folder without a `node_modules` above it, so that the bundle can load nothing but itself. */
const folder = mkdtempSync(join(tmpdir(), "narthex-executable-"))
const bin = join(folder, "bin", "narthex.js")

beforeAll(async () => {
  await bundle(join(folder, "dist"))
  mkdirSync(join(folder, "bin"))
  copyFileSync(join(import.meta.dirname, "..", "bin", "narthex.js"), bin)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
  ended(spawn(process.execPath, [...args], { cwd: folder, env: { HOME: folder, ...variables } }))

/** The files that a cache has kept. */
const filesBelow = (cache: string) =>
  readdirSync(cache, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

describe("bin/narthex.js", () => {
  it("prints the version of the package as the bundle does, without loading it", async () => {
    const { code, stderr, stdout } = await run([...counting(folder), bin, "--version"])
    assert.deepStrictEqual([code, stdout], [0, `narthex v${version}\n`])
    assert.deepStrictEqual(startUpOf(stderr).files, [pathToFileURL(bin).href])
  })

  it("keeps the compiled code for its user alone", async () => {
    const home = join(folder, "kept")
    mkdirSync(home)
    for (const start of ["first", "second"]) {
      const { code, stderr } = await run([bin, "--help"], { HOME: home })
      assert.deepStrictEqual([code, stderr], [0, ""], start)
    }
    for (const kept of [".cache", ".cache/narthex", ".cache/narthex/code"])
      assert.strictEqual(statSync(join(home, kept)).mode & 0o777, 0o700, kept)
    assert.isNotEmpty(filesBelow(join(home, ".cache")))
  })

  it("keeps nothing in a folder that another user can change, or below one", async () => {
    const shared = join(folder, "shared")
    const below = join(shared, "below")
    mkdirSync(below, { recursive: true })
    chmodSync(shared, 0o777)
    symlinkSync(shared, join(folder, "link"))
    for (const cache of [shared, below, join(folder, "link"), join(folder, "link", "below")]) {
      const { code, stderr } = await run([bin, "--help"], { XDG_CACHE_HOME: cache })
      assert.deepStrictEqual([code, stderr], [0, ""], cache)
    }
    assert.deepStrictEqual(readdirSync(shared), ["below"])
    assert.deepStrictEqual(readdirSync(below), [])
  })

  it("keeps nothing where another user has made the folder of the cache writable", async () => {
    const cache = join(folder, "prepared")
    mkdirSync(join(cache, "narthex", "code"), { recursive: true })
    chmodSync(join(cache, "narthex"), 0o777)
    assert.strictEqual((await run([bin, "--help"], { XDG_CACHE_HOME: cache })).code, 0)
    assert.deepStrictEqual(filesBelow(cache), [])
  })

  it.skipIf(process.getuid?.() !== 0)("keeps nothing for root in the home of another user", async () => {
    const home = join(folder, "ada")
    mkdirSync(home)
    chownSync(home, 1000, 1000)
    const { code, stderr } = await run([bin, "--help"], { HOME: home })
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.deepStrictEqual(readdirSync(home), [])
  })

  it("keeps nothing in a relative folder, which a repository could hold", async () => {
    for (const variables of [{ XDG_CACHE_HOME: "cache" }, { HOME: "" }]) {
      const { code, stderr } = await run([bin, "--help"], variables)
      assert.deepStrictEqual([code, stderr], [0, ""])
    }
    assert.notInclude(readdirSync(folder), "cache")
    assert.notInclude(readdirSync(folder), ".cache")
  })

  it("works where nothing can be kept", async () => {
    for (const cache of ["/dev/null", "/proc/none"]) {
      const { code, stderr } = await run([bin, "--help"], { XDG_CACHE_HOME: cache })
      assert.deepStrictEqual([code, stderr], [0, ""], cache)
    }
  })

  it("a result that standard output does not take is a failure with a sentence", async () => {
    const full = openSync("/dev/full", "w")
    const child = spawn(process.execPath, [bin, "help", "environment"], {
      cwd: folder,
      env: { HOME: folder },
      stdio: ["ignore", full, "pipe"]
    })
    const stderr = ((await child.stderr?.toArray()) ?? []).map(String).join("")
    closeSync(full)
    assert.strictEqual(child.exitCode ?? (await once(child, "exit"))[0], 1)
    assert.match(
      stderr,
      /^error: The result could not be written to standard output: ENOSPC.*\nhint: .*not shown again/
    )
  })

  it("works for a user without a home directory", async () => {
    const homeless = `
      import { syncBuiltinESMExports } from "node:module"
      import os from "node:os"
      os.homedir = () => { throw new Error("no home directory") }
      syncBuiltinESMExports()
    `
    const preload = `--import=data:text/javascript,${encodeURIComponent(homeless)}`
    const { code, stderr } = await run([preload, bin, "--help"], { XDG_CACHE_HOME: "" })
    assert.deepStrictEqual([code, stderr], [0, ""])
  })

  it("without a bundle prints the command that builds it", async () => {
    const alone = join(folder, "alone", "bin", "narthex.js")
    mkdirSync(dirname(alone), { recursive: true })
    copyFileSync(bin, alone)
    const { code, stderr, stdout } = await run([alone, "--version"])
    assert.deepStrictEqual([code, stdout], [1, ""])
    assert.match(stderr, /not built yet\. Build it with: npm run build\n$/)
  })
})

/** `bin/narthex.js`: what it answers itself, and the code that it keeps of the bundle (docs/design/cli.md C38, C39). */
import { spawn } from "node:child_process"
import { once } from "node:events"
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { Script } from "node:vm"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { bundle } from "../bundle.ts"
import { version } from "../src/environment/version.ts"
import { ended } from "./support/ended.ts"
import { counting, startUpOf } from "./support/startUp.ts"

/** A folder without a `node_modules` above it, so that the bundle can load nothing but itself. */
const folder = mkdtempSync(join(tmpdir(), "narthex-executable-"))
const parts = join(folder, "dist", "parts")
const bin = join(folder, "bin", "narthex.js")

beforeAll(async () => {
  await bundle(join(folder, "dist", "narthex.cjs"))
  mkdirSync(join(folder, "bin"))
  for (const name of ["narthex.js", "loadBundle.cjs"])
    copyFileSync(join(import.meta.dirname, "..", "bin", name), join(folder, "bin", name))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) =>
  ended(spawn(process.execPath, [...args], { cwd: folder, env: { HOME: folder, ...variables } }))

/** A cache folder, and what is kept in it: the bytes of each file. */
const cacheNamed = (name: string) => {
  const cache = join(folder, name)
  const kept = (): ReadonlyMap<string, Buffer> => {
    const paths = readdirSync(cache, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    return new Map(paths.map((path) => [path, readFileSync(path)]))
  }
  const start = (...args: ReadonlyArray<string>) => run([bin, ...args], { XDG_CACHE_HOME: cache })
  return { cache, kept, start }
}

const kind = (path: string) => path.replace(/^.*\/(.+)-.{8}\.cjs\.code$/, "$1")

describe("bin/narthex.js", () => {
  it("prints the version of the package as the bundle does, without loading it", async () => {
    const { code, stderr, stdout } = await run([...counting(folder), bin, "--version"])
    assert.deepStrictEqual([code, stdout], [0, `narthex v${version}\n`])
    assert.deepStrictEqual(startUpOf(stderr).files, [pathToFileURL(bin).href])
  })

  it("keeps the code of what it loaded, for its user alone, and uses it unchanged", async () => {
    const { kept, start } = cacheNamed("cache")
    const { code, stdout } = await start("project", "--help")
    const first = kept()
    assert.includeMembers([...first.keys()].map(kind), ["main", "shared", "projects"])
    for (const path of first.keys())
      assert.deepStrictEqual([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777], [0o600, 0o700])
    const again = await start("project", "--help")
    const direct = await run([join(folder, "dist", "narthex.cjs"), "project", "--help"])
    assert.deepStrictEqual([again.code, again.stdout, direct.stdout], [code, stdout, stdout])
    assert.deepStrictEqual(kept(), first)
  })

  it("keeps the functions that a run has called, not only what loading a file compiles", async () => {
    const { kept, start } = cacheNamed("called")
    await start("project", "--help")
    const [path = "", bytes] = [...kept()].find(([path]) => kind(path) === "shared") ?? []
    const source = readFileSync(join(parts, path.replace(/^.*\/([^/]+)\.code$/, "$1")), "utf8")
    const loaded = new Script(`(function (exports, require, module) {${source}\n})`).createCachedData()
    // The code is there twice.
    assert.isAbove((bytes?.length ?? 0) / 2, 1.2 * loaded.length)
  })

  it("a run that loads a further part keeps it too, with what it called of the others", async () => {
    const { kept, start } = cacheNamed("further")
    await start("project", "--help")
    const before = kept()
    await start("region", "--help")
    const after = kept()
    assert.include([...after.keys()].map(kind), "regions")
    assert.deepStrictEqual(
      [...before.keys()].filter((path) => !after.has(path)),
      []
    )
  })

  it("a run that failed keeps nothing, because it has not called what its command needs", async () => {
    const { cache, start } = cacheNamed("failed")
    mkdirSync(cache)
    const { code } = await start("whoami")
    assert.strictEqual(code, 4)
    assert.deepStrictEqual(readdirSync(cache), [])
  })

  it("damaged code is not executed, and is replaced", async () => {
    const { kept, start } = cacheNamed("damaged")
    const { stdout } = await start("project", "--help")
    for (const [path, bytes] of kept()) {
      const damaged = Buffer.from(bytes)
      damaged.fill(0xff, Math.floor(bytes.length / 4), Math.floor(bytes.length / 4) + 64)
      writeFileSync(path, damaged)
      const again = await start("project", "--help")
      assert.deepStrictEqual([again.code, again.stdout], [0, stdout], path)
      assert.notDeepEqual(readFileSync(path), damaged, path)
    }
  })

  it("an empty file and one that is cut are not executed", async () => {
    const { kept, start } = cacheNamed("cut")
    const { stdout } = await start("project", "--help")
    const [path = "", bytes = Buffer.alloc(0)] = [...kept()].find(([path]) => kind(path) === "shared") ?? []
    for (const length of [0, 1, bytes.length - 2, bytes.length - 1]) {
      writeFileSync(path, bytes.subarray(0, length))
      const again = await start("project", "--help")
      assert.deepStrictEqual([again.code, again.stdout], [0, stdout], `${length} bytes of ${path}`)
    }
  })

  it("works where nothing can be kept", async () => {
    const { code, stderr } = await run([bin, "--help"], { XDG_CACHE_HOME: "/dev/null" })
    assert.deepStrictEqual([code, stderr], [0, ""])
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

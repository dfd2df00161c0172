import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { readPrivate, removePrivate, SymbolicLink, writePrivate } from "../src/contexts/privateFiles.ts"

let root = ""
let folder = ""
let path = ""

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "narthex-private-"))
  folder = join(root, "config", "narthex")
  path = join(folder, "credentials.json")
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const mode = (name: string) => statSync(name).mode & 0o777

describe("privateFiles", () => {
  it("a private file has mode 0600 in a folder of 0700, whatever the umask", () => {
    const before = process.umask(0)
    try {
      writePrivate(path, "one")
    } finally {
      process.umask(before)
    }
    assert.strictEqual(mode(path), 0o600)
    assert.strictEqual(mode(folder), 0o700)
    assert.deepStrictEqual(readPrivate(path), { text: "one", wasLoose: false })
  })

  it("a readable file is made private when it is read, and reported as loose", () => {
    writePrivate(path, "one")
    chmodSync(path, 0o644)
    assert.deepStrictEqual(readPrivate(path), { text: "one", wasLoose: true })
    assert.strictEqual(mode(path), 0o600)
  })

  it("a write makes the folder and the file private", () => {
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o755)
    writeFileSync(path, "old")
    chmodSync(path, 0o666)
    writePrivate(path, "new")
    assert.strictEqual(mode(folder), 0o700)
    assert.strictEqual(mode(path), 0o600)
    assert.strictEqual(readFileSync(path, "utf8"), "new")
  })

  it("a private file is never read through a symbolic link", () => {
    mkdirSync(folder, { recursive: true })
    const target = join(root, "target")
    writeFileSync(target, "other")
    symlinkSync(target, path)
    assert.throws(() => readPrivate(path), SymbolicLink)
  })

  it("a write replaces a symbolic link and leaves its target", () => {
    mkdirSync(folder, { recursive: true })
    const target = join(root, "target")
    writeFileSync(target, "other")
    symlinkSync(target, path)
    writePrivate(path, "new")
    assert.strictEqual(readFileSync(target, "utf8"), "other")
    assert.deepStrictEqual(readPrivate(path), { text: "new", wasLoose: false })
  })

  it("a folder that is a symbolic link is refused", () => {
    mkdirSync(join(root, "config"), { recursive: true })
    mkdirSync(join(root, "elsewhere"))
    symlinkSync(join(root, "elsewhere"), folder)
    assert.throws(() => writePrivate(path, "one"), SymbolicLink)
    assert.throws(() => readPrivate(path), SymbolicLink)
    assert.deepStrictEqual(readdirSync(join(root, "elsewhere")), [])
  })

  it("a failed write keeps the old content and leaves no temporary file", () => {
    mkdirSync(join(path, "in the way"), { recursive: true })
    assert.throws(() => writePrivate(path, "one"))
    assert.deepStrictEqual(readdirSync(folder), ["credentials.json"])
  })

  it("a write and a removal delete the temporary file of a crash", () => {
    writePrivate(path, "one")
    const leftover = `${path}.0123456789abcdef.tmp`
    writeFileSync(leftover, "half a sec")
    writePrivate(path, "two")
    assert.deepStrictEqual(readdirSync(folder), ["credentials.json"])
    writeFileSync(leftover, "half a sec")
    assert.isTrue(removePrivate(path))
    assert.deepStrictEqual(readdirSync(folder), [])
  })

  it("a missing file is not an error", () => {
    assert.isUndefined(readPrivate(path))
    assert.isFalse(removePrivate(path))
  })

  it("the removal of a symbolic link leaves its target", () => {
    mkdirSync(folder, { recursive: true })
    const target = join(root, "target")
    writeFileSync(target, "other")
    symlinkSync(target, path)
    assert.isTrue(removePrivate(path))
    assert.strictEqual(readFileSync(target, "utf8"), "other")
  })
})

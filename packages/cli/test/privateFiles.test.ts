import {
  chmodSync,
  existsSync,
  lstatSync,
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
import { readPrivate, removePrivate, writePrivate } from "../src/contexts/privateFiles.ts"

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
    assert.deepStrictEqual(readPrivate(path), { text: "one", loose: undefined })
  })

  it("a readable file is made private when it is read, and reported as loose", () => {
    writePrivate(path, "one")
    chmodSync(path, 0o644)
    assert.deepStrictEqual(readPrivate(path), { text: "one", loose: "until now" })
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

  it("a file that is a symbolic link is read and written at its target, and the link stays", () => {
    mkdirSync(folder, { recursive: true })
    const target = join(root, "dotfiles", "secrets.json")
    mkdirSync(join(root, "dotfiles"))
    writeFileSync(target, "old", { mode: 0o600 })
    symlinkSync(target, path)
    assert.deepStrictEqual(readPrivate(path), { text: "old", loose: undefined })
    writePrivate(path, "new")
    assert.isTrue(lstatSync(path).isSymbolicLink())
    assert.strictEqual(readFileSync(target, "utf8"), "new")
    assert.strictEqual(mode(target), 0o600)
    assert.deepStrictEqual(readdirSync(join(root, "dotfiles")), ["secrets.json"])
  })

  it("a folder that is a symbolic link is used", () => {
    mkdirSync(join(root, "config"), { recursive: true })
    mkdirSync(join(root, "elsewhere"), { mode: 0o755 })
    symlinkSync(join(root, "elsewhere"), folder)
    writePrivate(path, "one")
    assert.deepStrictEqual(readPrivate(path), { text: "one", loose: undefined })
    assert.deepStrictEqual(readdirSync(join(root, "elsewhere")), ["credentials.json"])
    assert.strictEqual(mode(join(root, "elsewhere")), 0o700)
  })

  it("a symbolic link without a target is replaced by a file", () => {
    mkdirSync(folder, { recursive: true })
    symlinkSync(join(root, "gone"), path)
    assert.isUndefined(readPrivate(path))
    writePrivate(path, "one")
    assert.deepStrictEqual(readPrivate(path), { text: "one", loose: undefined })
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

  it("the removal of a symbolic link removes its target, which has the secrets", () => {
    mkdirSync(folder, { recursive: true })
    const target = join(root, "target")
    writeFileSync(target, "other")
    symlinkSync(target, path)
    assert.isTrue(removePrivate(path))
    assert.deepStrictEqual([existsSync(target), readdirSync(folder)], [false, []])
  })
})

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

describe("private files", () => {
  it("are 0600 in a folder of 0700, whatever the umask", () => {
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

  it("are tightened when they are read, and that is said", () => {
    writePrivate(path, "one")
    chmodSync(path, 0o644)
    assert.deepStrictEqual(readPrivate(path), { text: "one", wasLoose: true })
    assert.strictEqual(mode(path), 0o600)
  })

  it("tighten a loose folder, and replace a loose file with a tight one", () => {
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o755)
    writeFileSync(path, "old")
    chmodSync(path, 0o666)
    writePrivate(path, "new")
    assert.strictEqual(mode(folder), 0o700)
    assert.strictEqual(mode(path), 0o600)
    assert.strictEqual(readFileSync(path, "utf8"), "new")
  })

  it("are never read through a symbolic link", () => {
    mkdirSync(folder, { recursive: true })
    const target = join(root, "target")
    writeFileSync(target, "theirs")
    symlinkSync(target, path)
    assert.throws(() => readPrivate(path), SymbolicLink)
  })

  it("are never written through a symbolic link: the link is replaced, its target stays", () => {
    mkdirSync(folder, { recursive: true })
    const target = join(root, "target")
    writeFileSync(target, "theirs")
    symlinkSync(target, path)
    writePrivate(path, "ours")
    assert.strictEqual(readFileSync(target, "utf8"), "theirs")
    assert.deepStrictEqual(readPrivate(path), { text: "ours", wasLoose: false })
  })

  it("are not kept in a folder that is a symbolic link", () => {
    mkdirSync(join(root, "config"), { recursive: true })
    mkdirSync(join(root, "elsewhere"))
    symlinkSync(join(root, "elsewhere"), folder)
    assert.throws(() => writePrivate(path, "one"), SymbolicLink)
    assert.throws(() => readPrivate(path), SymbolicLink)
    assert.deepStrictEqual(readdirSync(join(root, "elsewhere")), [])
  })

  it("keep the old content when the new cannot be put in place, and leave nothing behind", () => {
    mkdirSync(join(path, "in the way"), { recursive: true })
    assert.throws(() => writePrivate(path, "one"))
    assert.deepStrictEqual(readdirSync(folder), ["credentials.json"])
  })

  it("take with them what a crash between writing and renaming left", () => {
    writePrivate(path, "one")
    const leftover = `${path}.0123456789abcdef.tmp`
    writeFileSync(leftover, "half a sec")
    writePrivate(path, "two")
    assert.deepStrictEqual(readdirSync(folder), ["credentials.json"])
    writeFileSync(leftover, "half a sec")
    assert.isTrue(removePrivate(path))
    assert.deepStrictEqual(readdirSync(folder), [])
  })

  it("that are missing are no error", () => {
    assert.isUndefined(readPrivate(path))
    assert.isFalse(removePrivate(path))
  })

  it("that are links are removed themselves, not their targets", () => {
    mkdirSync(folder, { recursive: true })
    const target = join(root, "target")
    writeFileSync(target, "theirs")
    symlinkSync(target, path)
    assert.isTrue(removePrivate(path))
    assert.strictEqual(readFileSync(target, "utf8"), "theirs")
  })
})

import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { tryLock } from "../src/contexts/fileLock.ts"

let folder = ""
const path = () => join(folder, "credentials.json")

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "narthex-lock-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const deadProcess = () => spawnSync(process.execPath, ["-e", "0"]).pid

describe("the lock of a file", () => {
  it("one holder at a time has the lock, and the next one has it after the release", () => {
    const first = tryLock(path())
    assert.isTrue(first?.isHeld())
    assert.isUndefined(tryLock(path()))
    first?.release()
    const second = tryLock(path())
    assert.isTrue(second?.isHeld())
    first?.release()
    assert.isTrue(second?.isHeld(), "a second release removes the lock of another holder")
    second?.release()
    assert.deepStrictEqual(readdirSync(folder), [])
  })

  it("the lock of a process that is gone is taken over", () => {
    writeFileSync(`${path()}.lock`, `${hostname()} ${deadProcess()} abc`)
    assert.isUndefined(tryLock(path()))
    const taken = tryLock(path())
    assert.isTrue(taken?.isHeld())
    assert.deepStrictEqual(readdirSync(folder), ["credentials.json.lock"])
  })

  it("the lock of a running process, of another machine, and one without content are kept until they are old", () => {
    for (const owner of [`${hostname()} ${process.pid} abc`, `elsewhere ${deadProcess()} abc`, ""]) {
      const lock = `${path()}.lock`
      writeFileSync(lock, owner)
      // Seconds by the clock of the file system, which the test's clock may be ahead of.
      const written = statSync(lock).mtimeMs / 1_000
      utimesSync(lock, written, written - 20)
      assert.isUndefined(tryLock(path()))
      assert.isTrue(existsSync(lock), owner)
      utimesSync(lock, written, written - 31)
      assert.isUndefined(tryLock(path()))
      assert.deepStrictEqual(readdirSync(folder), [], owner)
    }
  })

  it("a holder whose lock was taken over notices it, and does not remove the lock of the other", () => {
    const first = tryLock(path())
    writeFileSync(`${path()}.lock`, "another holder")
    assert.isFalse(first?.isHeld())
    first?.release()
    assert.isTrue(existsSync(`${path()}.lock`))
  })
})

/** `scripts/start.sh` with stand-ins for what it runs: with which options it starts the platform. */
import { spawn } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join, resolve } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { ended } from "../../packages/cli/test/support/ended.ts"

/** Keeps objects, as thousands of connections do, and prints how large V8's young generation became, in MiB. */
const platform = `
import { getHeapSpaceStatistics } from "node:v8"
const kept = []
let largest = 0
for (let n = 0; n < 3_000_000; n++) {
  kept.push({ n })
  if (n % 100_000 !== 0) continue
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
  largest = Math.max(largest, young.space_size)
}
console.log(largest / 1024 / 1024)
`

describe("npm start", () => {
  let root: string

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "narthex-start-"))
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    write("package.json", '{"type":"module"}')
    write("scripts/setup.sh", "")
    write("scripts/build.ts", "")
    write("packages/server/dist/narthex-platform.js", platform)
    copyFileSync(resolve(import.meta.dirname, "../../scripts/start.sh"), join(root, "scripts/start.sh"))
  })

  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it("bounds V8's young generation, which thousands of new connections would double (docs/operating/event-streams.md)", async () => {
    const path = `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`
    const { code, stdout } = await ended(spawn("sh", ["scripts/start.sh"], { cwd: root, env: { PATH: path } }))
    assert.strictEqual(code, 0)
    // Two halves of 16 MiB, and the pages in use beside them during a collection. Without a bound it is 64.
    assert.isBelow(Number(stdout), 40)
    assert.isAbove(Number(stdout), 0)
  })
})

/** When the programs are bundled, and when that is left out (scripts/programs.ts), with bundlers that count their runs. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Programs } from "../../scripts/programs.ts"

/** Appends a line to a result in `dist` for each run. */
const bundler = `
import { appendFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
const dist = join(import.meta.dirname, "dist")
mkdirSync(dist, { recursive: true })
appendFileSync(join(dist, "program.js"), "bundled\\n")
`

describe("the programs", () => {
  let root: string
  let programs: Programs

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }

  const runs = (name: string) =>
    readFileSync(join(root, "packages", name, "dist/program.js"), "utf8").split("\n").length - 1

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "narthex-programs-"))
    for (const name of ["cli", "server"]) write(`packages/${name}/bundle.ts`, bundler)
    write("packages/core/src/core.ts", "export const core = 1\n")
    write("node_modules/.narthex-setup", "1")
    programs = new Programs(root)
  })

  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it("a clone has none, and the first build makes both", async () => {
    assert.isFalse(programs.areUpToDate())
    await programs.build()
    assert.deepStrictEqual([runs("cli"), runs("server")], [1, 1])
    assert.isTrue(programs.areUpToDate())
    assert.isTrue(new Programs(root).areUpToDate())
  })

  const changes: Readonly<Record<string, () => void>> = {
    "a source that changed": () => write("packages/core/src/core.ts", "export const core = 2\n"),
    "a source of the same content that was written again": () =>
      write("packages/core/src/core.ts", "export const core = 1\n"),
    "a new source": () => write("packages/core/src/more.ts", ""),
    "a source that is gone": () => rmSync(join(root, "packages/core/src/core.ts")),
    "other packages installed": () => write("node_modules/.narthex-setup", "2"),
    "a program that is gone": () => rmSync(join(root, "packages/cli/dist/program.js")),
    "a program that was changed": () => write("packages/server/dist/program.js", "")
  }
  for (const [name, change] of Object.entries(changes))
    it(`${name} makes the programs outdated`, async () => {
      await programs.build()
      change()
      assert.isFalse(programs.areUpToDate())
    })

  it("a changed test leaves the programs as they are", async () => {
    await programs.build()
    write("packages/core/test/core.test.ts", "")
    assert.isTrue(programs.areUpToDate())
  })

  it("a source that changes while the programs are bundled makes them outdated", async () => {
    const building = programs.build()
    write("packages/core/src/core.ts", "export const core = 2\n")
    await building
    assert.isFalse(programs.areUpToDate())
  })

  it("a bundle that fails leaves the programs outdated, and says which", async () => {
    await programs.build()
    write("packages/server/bundle.ts", "process.exit(1)\n")
    const failure = await programs.build().then(
      () => "none",
      (error: Error) => error.message
    )
    assert.strictEqual(failure, "packages/server/bundle.ts failed")
    assert.isFalse(programs.areUpToDate())
    assert.isTrue(existsSync(join(root, "packages/cli/dist/program.js")))
  })
})

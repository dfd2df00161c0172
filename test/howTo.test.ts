/** Runs every program of the pages in docs/how-to and docs/tutorials, as a reader would paste it. */
import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { blocksRunBy } from "./support/documentedBlocks.ts"

const root = resolve(import.meta.dirname, "..")
const run = promisify(execFile)

const blocks = blocksRunBy("test/howTo.test.ts")
const programs = blocks.filter(({ language }) => language === "ts")
const isOfTutorial = ({ page }: { readonly page: string }) => page === "docs/tutorials/service.md"

/** The output of Node when it fails; `undefined` if it ends with 0. */
const failure = async (args: ReadonlyArray<string>, cwd: string) => {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
  return run(process.execPath, ["--conditions=source", ...args], { cwd, env, maxBuffer: 2 ** 24 }).then(
    () => undefined,
    ({ stderr, stdout }: { readonly stderr: string; readonly stdout: string }) => `${stdout}\n${stderr}`
  )
}

describe("programs of the how-to pages", () => {
  it("the pages have programs", () => assert.isAbove(programs.length, 2))

  for (const { at, text } of programs.filter((program) => !isOfTutorial(program)))
    it(`the program of ${at} runs unchanged`, async () =>
      assert.isUndefined(await failure(["--input-type=module-typescript", "--eval", text], root)))
})

describe("programs of the tutorial", () => {
  const ground = mkdtempSync(join(tmpdir(), "narthex-tutorial-"))
  const folder = join(ground, "service")
  afterAll(() => rmSync(ground, { recursive: true }))

  /** The lines of its first step. The packages are those of this checkout: `scripts/newcomer.sh` installs tarballs. */
  beforeAll(() => {
    const [first, ...others] = blocks.filter((block) => isOfTutorial(block) && block.language === "sh")
    assert.isEmpty(others)
    const lines = (first?.text ?? "").split("\n").filter((line) => !line.startsWith("npm install "))
    execFileSync("bash", ["-euc", lines.join("\n")], { cwd: ground, stdio: "ignore" })
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  })

  for (const { at, text } of programs.filter(isOfTutorial))
    it(`the program of ${at} runs as service.ts in the folder of the first step`, async () => {
      writeFileSync(join(folder, "service.ts"), text)
      assert.isUndefined(await failure(["service.ts"], folder))
    })
})

/** Runs every program of the pages in docs/how-to and docs/tutorials, as a reader would paste it. */
import { execFile } from "node:child_process"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { blocksRunBy } from "./support/documentedBlocks.ts"

const root = resolve(import.meta.dirname, "..")
const run = promisify(execFile)

const programs = blocksRunBy("test/howTo.test.ts").map(({ at, text }) => ({
  name: `the program of ${at}`,
  program: text
}))

describe("programs of the tutorials and how-to pages", () => {
  it("the pages have programs", () => assert.isAbove(programs.length, 2))

  for (const { name, program } of programs)
    it(`${name} runs unchanged`, async () => {
      const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
      const node = ["--conditions=source", "--input-type=module-typescript", "--eval", program]
      const failure = await run(process.execPath, node, { cwd: root, env, maxBuffer: 2 ** 24 }).then(
        () => undefined,
        ({ stderr, stdout }: { readonly stderr: string; readonly stdout: string }) => `${stdout}\n${stderr}`
      )
      assert.isUndefined(failure)
    })
})

/** Runs every program of the pages in docs/how-to, as a reader would paste it. */
import { execFile } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"

const root = resolve(import.meta.dirname, "..")
const run = promisify(execFile)

/** Its program needs a server and a generated file: `examples/foreignClient.test.ts` runs it. */
const withServer = "docs/how-to/generate-a-client.md"

const pages = globSync("docs/how-to/*.md", { cwd: root }).filter((page) => page !== withServer)

const programs = pages.flatMap((page) =>
  [...readFileSync(resolve(root, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, program = ""], at) => ({
    name: `program ${at + 1} of ${page}`,
    program
  }))
)

describe("programs of the how-to pages", () => {
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

/** Generates a client as docs/how-to/generate-a-client.md says, type-checks that page's program, and runs it. */
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { within } from "../test/harness/eventually.ts"
import { blocksRunBy } from "../test/support/documentedBlocks.ts"
import { programFolder } from "../test/support/runProgram.ts"
import { keySettings, MemoryServer } from "./memoryServer.ts"

const root = resolve(import.meta.dirname, "..")

/** Returns the output of a program of Node, which must succeed. The server runs in this process: nothing may block. */
const ran = (args: ReadonlyArray<string>, variables: Record<string, string> = {}) =>
  Effect.promise(() => {
    const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...variables } })
    let said = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString()
      })
    const ended = new Promise<string>((done, fail) => {
      child.on("error", fail)
      child.on("close", (status) => (status === 0 ? done(said) : fail(new Error(`${args[0]}: ${said}`))))
    })
    return within(`the end of ${args[0]}`, ended, 100_000).finally(() => child.kill("SIGKILL"))
  })

const tsconfig = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noEmit: true,
    target: "es2024",
    lib: ["es2024", "dom"],
    types: ["node"],
    module: "nodenext",
    allowImportingTsExtensions: true,
    skipLibCheck: true
  },
  include: ["program.ts", "narthex.d.ts"]
}

describe("a foreign generator", () => {
  it.live("the program of the how-to page type-checks against the generated types and runs against the API", () =>
    Effect.gen(function* () {
      const path = yield* programFolder
      const blocks = blocksRunBy("examples/foreignClient.test.ts")
      assert.deepStrictEqual(
        blocks.map(({ language }) => language),
        ["sh", "ts"]
      )
      const [command = "", program = ""] = blocks.map(({ text }) => text)
      writeFileSync(join(path, "program.ts"), program)
      writeFileSync(join(path, "tsconfig.json"), JSON.stringify(tsconfig))
      const generator = join(root, "examples/node_modules/openapi-typescript/bin/cli.js")
      const [, input = "", output = ""] =
        /^npx openapi-typescript (\S+) --output (\S+)\n$/.exec(command) ?? assert.fail(command)
      yield* ran([generator, input, "--output", join(path, output)])
      yield* ran([join(root, "node_modules/typescript/bin/tsc"), "-p", path])
      const { baseUrl, credential } = yield* keySettings
      const said = yield* ran([join(path, "program.ts")], {
        NARTHEX_URL: baseUrl,
        NARTHEX_API_KEY: Redacted.value(credential)
      })
      assert.match(said, /^prj-\w+ \[ 'main' \]\nnot found$/m)
    }).pipe(Effect.provide(MemoryServer.layer))
  )
})

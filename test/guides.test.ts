/** Runs the samples of the pages in docs/guides against the API: shell with curl, TypeScript with Node. */
import { spawn } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { basename, resolve } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { keySettings, MemoryServer } from "../examples/memoryServer.ts"
import { within } from "./harness/eventually.ts"

const root = resolve(import.meta.dirname, "..")
const guides = globSync("docs/guides/*.md", { cwd: root }).toSorted()

const blocks = (page: string, language: string): ReadonlyArray<string> =>
  [
    ...readFileSync(resolve(root, page), "utf8").matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))
  ].map(([, code = ""]) => code)

/** What a program prints, which must succeed. The server runs in this process, so nothing blocks it. */
const ran = (command: string, args: ReadonlyArray<string>, variables: Record<string, string>) =>
  Effect.promise(() => {
    const { NODE_OPTIONS: _, ...env } = process.env
    const child = spawn(command, args, { cwd: root, env: { ...env, ...variables } })
    let said = ""
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString()
      })
    const ended = new Promise<string>((done, fail) => {
      child.on("error", fail)
      child.on("close", (status) => (status === 0 ? done(said) : fail(new Error(said))))
    })
    return within(`the end of ${command}`, ended, 100_000).finally(() => child.kill("SIGKILL"))
  })

/** The variables that the guides use, of a new project. */
const surroundings = Effect.gen(function* () {
  const { baseUrl, credential } = yield* keySettings
  const key = Redacted.value(credential)
  const made = yield* Effect.promise(async () => {
    const answer = await fetch(`${baseUrl}/v1/projects`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "guides" })
    })
    // The members that the guides name; the contract's own tests know the rest.
    return (await answer.json()) as Record<"project" | "branch", { id: string }> & { operations: [{ id: string }] }
  })
  return {
    NARTHEX_URL: baseUrl,
    NARTHEX_API_KEY: key,
    PROJECT_ID: made.project.id,
    BRANCH_ID: made.branch.id,
    OPERATION_ID: made.operations[0].id
  }
})

/** Every refusal ends the script. */
const strictCurl = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }\n'

describe("guides", () => {
  it("every guide has a sample that is run", () => {
    assert.isAtLeast(guides.length, 11)
    const idle = guides.filter((page) => blocks(page, "sh").length + blocks(page, "ts").length === 0)
    assert.deepStrictEqual(idle, [])
  })
})

layer(MemoryServer.layer, { excludeTestServices: true })("samples of the guides", (it) => {
  for (const page of guides) {
    const name = basename(page)
    const shell = blocks(page, "sh")
    if (shell.length > 0)
      it.effect(
        `the shell of ${name} is answered without a refusal`,
        () =>
          Effect.flatMap(surroundings, (variables) => ran("sh", ["-euc", strictCurl + shell.join("\n")], variables)),
        { tags: ["curl"], timeout: 120_000 }
      )
    for (const [at, program] of blocks(page, "ts").entries())
      it.effect(
        `program ${at + 1} of ${name} runs unchanged`,
        () =>
          Effect.flatMap(surroundings, (variables) =>
            ran(process.execPath, ["--input-type=module-typescript", "--eval", program], variables)
          ),
        { timeout: 120_000 }
      )
  }
})

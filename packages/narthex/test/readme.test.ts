/** The programs of the README run as they are written. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { within } from "../../../test/harness/eventually.ts"

const root = resolve(import.meta.dirname, "../../..")
const programsOf = (file: string) =>
  [...readFileSync(resolve(root, file), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
    ([, program = ""]) => program
  )
const [first = "", withEffect = ""] = programsOf("packages/narthex/README.md")

/** What a program prints, run by a process of its own that must end by itself. */
const printed = async (program: string) => {
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module-typescript", "--eval", program], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"]
  })
  let text = ""
  child.stdout.on("data", (chunk) => {
    text += chunk
  })
  const code = await within("the program to end", new Promise((done) => child.once("close", done)))
  assert.strictEqual(code, 0)
  return text
}

describe("the README", () => {
  it("its first program makes a key, is refused, revokes it and receives an event, in at most 25 lines without Effect", async () => {
    assert.isAtMost(first.trimEnd().split("\n").length, 25)
    assert.notInclude(first, "effect")
    assert.strictEqual(await printed(first), "scope_insufficient\ninvalid_token\noperation.updated.v1\n")
  })

  it("the program with Effect does the same", async () => {
    assert.strictEqual(
      await printed(withEffect),
      "This call needs organization; the credential has project. InvalidCredential Event\n"
    )
  })

  it("its lines that install name every package that the program below them imports", () => {
    const text = readFileSync(resolve(root, "packages/narthex/README.md"), "utf8")
    const lines = [...text.matchAll(/^npm install (.+)$/gm)].map(([, names = ""]) => names.split(" "))
    const imported = [first, withEffect].map((program) =>
      [...program.matchAll(/ from "([^"]+)"/g)].map(([, name = ""]) => name)
    )
    assert.deepStrictEqual(
      lines.map((names) => names.toSorted()),
      imported.map((names) => names.toSorted())
    )
  })

  it("the README of the repository has the same first program", () => {
    assert.strictEqual(programsOf("README.md")[0], first)
  })
})

/** The planted faults as data, and a few of them planted; `node scripts/faults.ts` plants them all. */
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, inject, it } from "@effect/vitest"
import { within } from "../harness/eventually.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { requirements } from "../harness/requirements.ts"
import { faults } from "./list.ts"
import { planted } from "./runner/Fault.ts"

const root = join(import.meta.dirname, "../..")

/** The output and exit code of a program. It is not part of this run of Vitest, so it gets none of its variables. */
const ran = async (...args: ReadonlyArray<string>) => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")))
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...env, NODE_ENV: undefined, NARTHEX_TEST_SEED: inject("seed") }
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString()
    })
  const closed = new Promise<number | null>((resolve) => child.on("close", resolve))
  const code = await within("the program that plants faults", closed, runLimit).finally(() => child.kill("SIGKILL"))
  return { code, said: said.trim() }
}

/** Milliseconds. */
const runLimit = times(290_000, 1_800_000)

describe("the planted faults", { timeout: runLimit + 10_000 }, () => {
  it("there are at most 120 planted faults, and their names are unique", () => {
    assert.isAtMost(faults.length, 120)
    assert.lengthOf(new Set(faults.map(({ id }) => id)), faults.length)
  })

  it("each planted fault changes one piece of text that is in its file exactly once", () => {
    const text = new Map<string, string>()
    const unusable = faults.filter((fault) => {
      const source = text.get(fault.file) ?? readFileSync(join(root, fault.file), "utf8")
      text.set(fault.file, source)
      return planted(source, fault) === undefined
    })
    assert.deepStrictEqual(
      unusable.map(({ find, id }) => `${id}: ${find}`),
      []
    )
  })

  it("no two planted faults are the same", () => {
    const changes = faults.map(({ file, find, put }) => JSON.stringify([file, find, put]))
    assert.deepStrictEqual(
      changes.filter((change, at) => changes.indexOf(change) !== at),
      []
    )
  })

  it("each planted fault names existing tests and requirements, and has a sentence about what breaks", () => {
    const names = requirements.map(({ name }) => name)
    for (const { id, needs, tests, why } of faults) {
      if (needs !== undefined) assert.include(names, needs, id)
      assert.isAbove(tests.length, 0, id)
      for (const test of tests) assert.isTrue(existsSync(join(root, test)), `${id}: ${test}`)
      assert.match(why, /^[A-Z`].+\.$/s, id)
    }
  })

  it("the planted faults of pure modules that the seed of the run chooses are noticed by their tests", async () => {
    const pure = ["core/src/events", "core/src/guard", "proxy/src/scram"].flatMap((it) => ["--only", it])
    const { code, said } = await ran("scripts/faults.ts", "--sample", String(times(2, 20)), ...pure)
    assert.strictEqual(code, 0, said)
    note(`planted faults: ${said.split("\n").at(-1)}`)
  })
})

describe("the runner of faults", { timeout: runLimit + 10_000 }, () => {
  it("the runner of faults distinguishes faults that are noticed, that survive, and that cannot be tried", async () => {
    const { said } = await ran("test/faults/fixture/run.ts")
    const { "no-clean-run": noCleanRun, "no-module": noModule, "no-text": noText, ...others } = JSON.parse(said)
    assert.deepStrictEqual(others, {
      caught: "Failed",
      equivalent: "no test failed",
      endless: "TimedOut",
      "caught-after": "Failed",
      "not-loaded": "its tests do not load the file"
    })
    assert.include(noModule, "oops is not defined")
    assert.include(noText, "is not there exactly once")
    assert.include(noCleanRun, "Without any fault its tests do not pass")
  })
})

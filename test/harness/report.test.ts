/** The report of a run that has every outcome. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const fixture = join(import.meta.dirname, "fixture")
const vitest = join(import.meta.dirname, "../../node_modules/vitest/vitest.mjs")

const run = (environment: Record<string, string>) => {
  const { CI: _, ...inherited } = process.env
  const args = [vitest, "run", "--config", join(fixture, "vitest.config.ts")]
  return spawnSync(process.execPath, args, {
    cwd: fixture,
    encoding: "utf8",
    env: { ...inherited, NARTHEX_TEST_SEED: "4711", ...environment }
  })
}

describe("the report of a run", () => {
  const { status, stdout } = run({})
  const second = run({ CI: "true" })

  it("the report names each failure by its sentence, line and difference, without the framework's stack", () => {
    assert.strictEqual(status, 1)
    const failure = /✗ a fixture > fails with a difference\n {2}some\.fixture\.ts:13:12\n([\s\S]*?)\n\n✗/.exec(
      stdout
    )?.[1]
    assert.match(failure ?? "", /- {3}"n": 2,\n {4}\+ {3}"n": 1,/)
    assert.match(
      stdout,
      /✗ a fixture > fails by a value that is not an error\n {2}some\.fixture\.ts:16\n {4}.*out of luck/
    )
    assert.notInclude(stdout, "node_modules")
  })

  it("the report keeps the output of tests in the file that a failure names", () => {
    assert.notInclude(stdout, "a server said something")
    const named = /What it printed: (\S+)/.exec(stdout)?.[1] ?? ""
    assert.include(readFileSync(join(fixture, named), "utf8"), "a server said something")
  })

  it("the report prints the notes of tests", () => {
    assert.match(stdout, /Notes\n {2}three rounds were done\n/)
  })

  it("the report names the seed that repeats the random choices", () => {
    assert.include(stdout, "Run a failure again: NARTHEX_TEST_SEED=4711 npm test -- <file>")
    const choice = /chose \d+/.exec(stdout)?.[0]
    assert.isDefined(choice)
    assert.include(second.stdout, choice)
    assert.notInclude(run({ NARTHEX_TEST_SEED: "4712" }).stdout, choice)
  })

  it("the report ends with the reasons for skipped tests, and the counts alone on a line", () => {
    assert.match(stdout, /\nSkipped: 1 test .+\.\n\n1 file in \d+:\d\d\n2 passed, 2 failed, 1 skipped\n$/)
  })

  it("in CI a skipped test fails the run", () => {
    const only = ["--testNamePattern", "is skipped|passes"]
    const args = [vitest, "run", "--config", join(fixture, "vitest.config.ts"), ...only]
    const statusOf = (ci: string) =>
      spawnSync(process.execPath, args, { cwd: fixture, env: { ...process.env, CI: ci } }).status
    assert.deepStrictEqual([statusOf(""), statusOf("true")], [0, 1])
  })
})

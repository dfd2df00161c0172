/** Contracts run with any test runner: under Node's own in another process, and under a runner that a test controls. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as vitest from "vitest"
import { AssertionError, assert as demand } from "../../testing/assert.ts"
import { type Case, contract, runContract, type TestRunner } from "../../testing/contract.ts"
import * as testing from "../../testing/index.ts"
import { storageContracts } from "../../testing/storageContracts.ts"

const run = promisify(execFile)
const program = resolve(import.meta.dirname, "onNodeTest.ts")

/** The report of Node's runner, which runs the contracts in another process. */
const onNodeTest = (...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env
    const node = ["--conditions=source", "--test-reporter=tap", program, ...args]
    const { code, stdout } = await run(process.execPath, node, { env, maxBuffer: 2 ** 24 }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (failure: { code: number; stdout: string }) => failure
    )
    const total = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(stdout)?.[1])
    return { code, stdout, tests: total("tests"), passed: total("pass"), failed: total("fail") }
  })

class Port extends Context.Service<Port, { readonly built: number }>()("test/Port") {}

/** A layer that notes when it is built and released. */
const noted = (notes: Array<string>) =>
  Layer.effect(
    Port,
    Effect.acquireRelease(
      Effect.sync(() => ({ built: notes.push("built") })),
      () => Effect.sync(() => notes.push("released"))
    )
  )

type Body = Parameters<TestRunner["it"]>[1]

/** A runner that keeps what is registered, for tests that run it themselves. */
const recorder = () => {
  const found: {
    group: string
    tests: Map<string, Body>
    before: Array<() => Promise<void>>
    after: Array<() => Promise<void>>
  } = {
    group: "",
    tests: new Map(),
    before: [],
    after: []
  }
  const runner: TestRunner = {
    describe: (name, body) => {
      found.group = name
      body()
    },
    it: (sentence, body) => found.tests.set(sentence, body),
    before: (hook) => found.before.push(hook),
    after: (hook) => found.after.push(hook)
  }
  return { found, runner }
}

const registered = (check: Case<Port>["check"], notes: Array<string> = []) => {
  const { found, runner } = recorder()
  const demands = contract<Port>("Port", (it) => {
    it("first", () => check)
    it("second", () => check)
  })
  runContract(runner, demands, "noted", noted(notes))
  return found
}

describe("contracts under a runner", () => {
  it.live("every storage contract passes on the memory layers under node:test", () =>
    Effect.gen(function* () {
      const cases = storageContracts.flatMap((it) => it.cases)
      const { code, failed, passed, stdout, tests } = yield* onNodeTest()
      assert.deepStrictEqual(
        { code, failed, passed, tests },
        { code: 0, failed: 0, passed: cases.length, tests: cases.length },
        stdout.slice(-2_000)
      )
    })
  )

  it.live("a store that stores nothing fails its contract under node:test, with the sentence of the case", () =>
    Effect.gen(function* () {
      const { code, failed, passed, stdout } = yield* onNodeTest("broken")
      assert.strictEqual(code, 1)
      assert.isAbove(failed, 0)
      assert.isAbove(passed, failed, "other contracts still pass")
      assert.match(stdout, /not ok \d+ - AccountStore: memory/)
    })
  )

  it("the page about storage adapters names every port and its contracts", () => {
    const page = readFileSync(resolve(import.meta.dirname, "../../../../docs/how-to/storage-adapter.md"), "utf8")
    const rows = [...page.matchAll(/^\| `(\w+)` \| ((?:`\w+Contract`(?:, )?)+) \|/gm)]
    const named = rows.flatMap(([, port, names = ""]) => [...names.matchAll(/\w+/g)].map(([name]) => [port, name]))
    const exported = Object.entries(testing).flatMap(([name, value]) =>
      storageContracts.filter((it) => it === value).map(({ port }) => [port.split(" ")[0], name])
    )
    assert.lengthOf(exported, storageContracts.length)
    assert.sameDeepMembers(named, exported)
  })

  it("vitest and a runner with before and after are runners as they are", () => {
    const runners: ReadonlyArray<TestRunner> = [vitest, recorder().runner]
    assert.lengthOf(runners, 2)
  })

  it("the adapter is built once before the cases and released after them", async () => {
    const notes: Array<string> = []
    const { after, before, group, tests } = registered(
      Effect.flatMap(Port, ({ built }) => Effect.sync(() => notes.push(`case on ${built}`))),
      notes
    )
    assert.strictEqual(group, "Port: noted")
    assert.deepStrictEqual(notes, [])
    for (const hook of before) await hook()
    for (const body of tests.values()) await body()
    for (const hook of after) await hook()
    assert.deepStrictEqual(notes, ["built", "case on 1", "case on 1", "released"])
  })

  it("a case that fails rejects with the demand, and a case that succeeds does not reject", async () => {
    const { tests } = registered(Effect.sync(() => demand.strictEqual(1, 2)))
    const failure = await tests
      .get("first")?.()
      .then(
        () => undefined,
        (error: unknown) => error
      )
    assert.instanceOf(failure, AssertionError)
    assert.deepInclude(failure, { actual: 1, expected: 2, message: "1 is not 2" })
    await registered(Effect.sync(() => demand.strictEqual(2, 2))).tests.get("first")?.()
  })

  it("a case whose test is aborted is interrupted", async () => {
    const notes: Array<string> = []
    const { tests } = registered(Effect.onInterrupt(Effect.never, () => Effect.sync(() => notes.push("interrupted"))))
    const abort = new AbortController()
    const running = tests
      .get("first")?.({ signal: abort.signal })
      .then(
        () => "passed",
        () => "rejected"
      )
    abort.abort()
    assert.strictEqual(await running, "rejected")
    assert.deepStrictEqual(notes, ["interrupted"])
  })

  it("a test has no named parameter, which runners would take for a callback", () => {
    for (const body of registered(Effect.void).tests.values()) assert.strictEqual(body.length, 0)
  })
})

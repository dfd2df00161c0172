/**
 * Runs the samples of the pages in docs/guides against the API: shell with curl, TypeScript with Node, drivers against a
 * Postgres. The part of an answer that a page shows is compared with a real one.
 */
import { globSync } from "node:fs"
import { basename, resolve } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { keySettings, MemoryServer } from "../examples/memoryServer.ts"
import { PostgresServer } from "../packages/postgres/test/support/PostgresServer.ts"
import { until, within } from "./harness/eventually.ts"
import { blocksRunBy } from "./support/documentedBlocks.ts"
import { started } from "./support/runProgram.ts"

const root = resolve(import.meta.dirname, "..")
const own = blocksRunBy("test/guides.test.ts")
const guides = globSync("docs/guides/*.md", { cwd: root }).toSorted()

const blocks = (page: string, language: string): ReadonlyArray<string> =>
  own.filter((block) => block.page === page && block.language === language).map(({ text }) => text)

const connecting = "docs/guides/connecting.md"

/** The output of a program, which must succeed. The server runs in this process, so nothing blocks it. */
const ran = (command: string, args: ReadonlyArray<string>, variables: Record<string, string>, input = "") =>
  Effect.promise(() => {
    const program = started(command, args, variables)
    // A program that reads nothing may end before it has got all.
    program.child.stdin.on("error", () => undefined).end(input)
    return within(`the end of ${command}`, program.ended, 100_000).finally(program.end)
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

  const openingStream = blocks("docs/guides/events.md", "console")
  it.effect(
    "the stream of docs/guides/events.md follows a change, and its events have the members that the page shows",
    () =>
      Effect.gen(function* () {
        assert.lengthOf(openingStream, 1)
        const variables = yield* surroundings
        const stream = started("sh", ["-euc", strictCurl + openingStream.join("\n")], variables)
        const [shown = ""] = blocks("docs/guides/events.md", "http")
        yield* Effect.promise(async () => {
          try {
            await until("the first byte of the stream", () => stream.said() !== "" || stream.child.exitCode !== null)
            const { NARTHEX_API_KEY, NARTHEX_URL, PROJECT_ID } = variables
            const authorization = `Bearer ${NARTHEX_API_KEY}`
            await fetch(`${NARTHEX_URL}/v1/projects/${PROJECT_ID}/branches`, {
              method: "POST",
              headers: { authorization }
            })
            await until("an event", () => /^data: .+\n\n/m.test(stream.said()) || stream.child.exitCode !== null)
          } finally {
            stream.end()
            await stream.ended.catch(() => undefined)
          }
        })
        const frameOf = (text: string) => {
          const [, id = "", event = "", data = "{}"] =
            /^id: (.+)\nevent: (.+)\ndata: (.+)$/m.exec(text) ?? assert.fail(text)
          return { id, event, data: JSON.parse(data) }
        }
        const [documented, real] = [frameOf(shown), frameOf(stream.said())]
        assert.strictEqual(real.event, documented.event)
        assert.deepStrictEqual(Object.keys(real.data).toSorted(), Object.keys(documented.data).toSorted())
        for (const { data, event, id } of [documented, real]) assert.deepInclude(data, { id, type: event })
        for (const member of Object.keys(documented.data.data)) assert.property(real.data.data, member)
      }),
    { tags: ["curl"], timeout: 120_000 }
  )

  it.effect(
    "the answer of docs/guides/rate-limits.md has the headers that the page shows",
    () =>
      Effect.gen(function* () {
        const [shown = "", ...others] = blocks("docs/guides/rate-limits.md", "http")
        assert.isEmpty(others)
        const shell = blocks("docs/guides/rate-limits.md", "sh").join("\n")
        const said = yield* ran("sh", ["-euc", strictCurl + shell], yield* surroundings)
        const names = [...shown.matchAll(/^([\w-]+): /gm)].map(([, name = ""]) => name.toLowerCase())
        assert.isAtLeast(names.length, 2)
        const headers = said.toLowerCase()
        assert.deepStrictEqual(
          names.filter((name) => !headers.includes(`\n${name}: `)),
          []
        )
      }),
    { tags: ["curl"], timeout: 120_000 }
  )

  it.effect("the variables that guides export are those that their samples use", () =>
    Effect.gen(function* () {
      const exports = guides.flatMap((page) => blocks(page, "console")).filter((text) => text.startsWith("export "))
      assert.isAtLeast(exports.length, 3)
      const set = yield* ran("sh", ["-euc", `${exports.join("\n")}\nenv`], {})
      const names = [...exports.join("\n").matchAll(/\b([A-Z_]+)=/g)].map(([, name = ""]) => name)
      for (const name of names) assert.match(set, new RegExp(`^${name}=.`, "m"))
      const used = new Set(own.flatMap(({ text }) => text.match(/\b(NARTHEX_[A-Z_]+|[A-Z]+_ID|DATABASE_URL)\b/g) ?? []))
      assert.deepStrictEqual([...used].toSorted(), names.toSorted())
    })
  )
})

/** The variables by which a driver and psql reach a database of the shared server. */
const database = Effect.map(
  Effect.flatMap(PostgresServer, (server) => server.database),
  (url) => {
    const { hostname, pathname, port, searchParams, username } = new URL(Redacted.value(url))
    return {
      DATABASE_URL: `postgresql://${pathname}`,
      PGHOST: searchParams.get("host") ?? hostname,
      PGPORT: port || "5432",
      PGUSER: searchParams.get("user") ?? username
    }
  }
)

layer(PostgresServer.layer, { excludeTestServices: true })("drivers of docs/guides/connecting.md", (it) => {
  it.effect("the program for Node connects, and prints a row", () =>
    Effect.gen(function* () {
      const [program = "", ...others] = blocks(connecting, "js")
      assert.isEmpty(others)
      const said = yield* ran(process.execPath, ["--input-type=module", "--eval", program], yield* database)
      assert.match(said, /now: \d{4}-/)
    })
  )

  it.effect(
    "psql connects with the URL alone",
    () =>
      Effect.gen(function* () {
        const [command = "", ...others] = blocks(connecting, "console").filter((text) => text.startsWith("psql "))
        assert.isEmpty(others)
        assert.match(yield* ran("sh", ["-euc", command], yield* database, "select 40 + 2;"), /\b42\b/)
      }),
    { tags: ["psql"] }
  )
})

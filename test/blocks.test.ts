/** Tests run every fenced block of the documentation. Data, drawings and quotes are no programs, and are read here. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { problemCatalog } from "@narthex/api"
import { type Block, documentedBlocks, fencedBlocks } from "../scripts/pages/blocks.ts"
import { examplesOf, typedPrograms } from "../scripts/pages/typedPrograms.ts"
import { blocksRunBy, runners } from "./support/documentedBlocks.ts"

const root = resolve(import.meta.dirname, "..")

/** The tests to which the table gives the block. */
const testsOf = (block: Block) => Object.entries(runners).flatMap(([test, runs]) => (runs(block) ? [test] : []))

const idle = (blocks: ReadonlyArray<Block>) =>
  blocks
    .filter((block) => testsOf(block).length === 0)
    .map(({ at, language, text }) => `${at} ${language}: ${text.split("\n")[0]}`)

describe("the blocks of the documentation", () => {
  it("every fenced block of the documentation is run by a test", () => {
    assert.isAbove(documentedBlocks.length, 80)
    assert.deepStrictEqual(idle(documentedBlocks), [])
  })

  it("a block that no test runs is named, with its page and line", () => {
    const page = "# New\n\n```sh\nnarthex new\n```\n\n```ruby\nputs 1\n```\n"
    assert.deepStrictEqual(idle(fencedBlocks("docs/README.md", page)), [
      "docs/README.md:4 sh: narthex new",
      "docs/README.md:8 ruby: puts 1"
    ])
  })

  it("every test of the table exists, takes its blocks from the table, and has some", () => {
    for (const test of Object.keys(runners) as ReadonlyArray<keyof typeof runners>) {
      assert.isTrue(existsSync(join(root, test)), test)
      assert.isNotEmpty(blocksRunBy(test), test)
    }
    // The walk has its own list of steps, and fails for a block that is not among them.
    const withOwnList = ["test/walk/walk.test.ts", "test/walk/serving.test.ts"]
    const careless = Object.keys(runners).filter(
      (test) =>
        !withOwnList.includes(test) && !readFileSync(join(root, test), "utf8").includes(`blocksRunBy("${test}")`)
    )
    assert.deepStrictEqual(careless, [])
  })

  const read = blocksRunBy("test/blocks.test.ts")

  const quotes = read.filter(({ language }) => language === "ts")

  it("the code on the page of an example is in its sources", () => {
    /** The code without its comments and without its place in a function. */
    const bare = (text: string) =>
      text
        .split("\n")
        .map((line) => line.replace(/(^|\s+)\/\/ .*$/, "").trim())
        .filter((line) => line !== "")
        .join("\n")
    assert.isNotEmpty(quotes)
    const changed = quotes.filter(({ page, text }) => {
      const folder = join(root, dirname(page))
      const sources = globSync("**/*.ts", { cwd: folder, exclude: ["**/node_modules"] })
      return !sources.some((file) => bare(readFileSync(join(folder, file), "utf8")).includes(bare(text)))
    })
    assert.deepStrictEqual(
      changed.map(({ at }) => at),
      []
    )
  })

  it("blocks of JSON parse, and the problems in them have the status and the title of the catalog", () => {
    const data = read.filter(({ language }) => language === "json")
    let problems = 0
    for (const { at, text } of data) {
      const value: Readonly<Record<string, unknown>> = JSON.parse(text)
      if (value["code"] === undefined) continue
      problems++
      const [, problem] = Object.entries(problemCatalog).find(([code]) => code === value["code"]) ?? assert.fail(at)
      assert.strictEqual(value["status"], problem.status, at)
      assert.strictEqual(value["type"], `urn:narthex:problem:${value["code"]}`, at)
      if (value["title"] !== "…") assert.strictEqual(value["title"], problem.title, at)
    }
    assert.isAtLeast(problems, 3)
  })

  it("the programs that npm run check type-checks are those of the pages in TypeScript, and the examples of docstrings", () => {
    const programs = Object.values(typedPrograms())
    const written = documentedBlocks.filter(({ language }) => language === "ts").map(({ text }) => text)
    const missing = written.filter((text) => !programs.some((program) => program.includes(text)))
    // A generator makes what one imports, and its own test checks its types; the others are quotes.
    const parts = [...blocksRunBy("examples/foreignClient.test.ts"), ...quotes].flatMap(({ language, text }) =>
      language === "ts" ? [text] : []
    )
    assert.sameMembers(missing, parts)
    assert.isAtLeast(programs.length - written.length, 20)
    const docstring =
      "/**\n * Adds.\n *\n * @example\n * import { add } from 'a'\n * add(1)\n */\nexport const add = 1\n"
    assert.deepStrictEqual(examplesOf(docstring), [[5, "import { add } from 'a'\nadd(1)\n"]])
    assert.deepStrictEqual(examplesOf(docstring.replaceAll("\n *", "\n   *")), [
      [5, "import { add } from 'a'\nadd(1)\n"]
    ])
  })

  it("a block without a language is a drawing", () => {
    const drawings = read.filter(({ language }) => language === "")
    assert.deepStrictEqual(
      drawings.filter(({ text }) => !/[─│►▼┌└]/.test(text)).map(({ at }) => at),
      []
    )
  })
})

/** Checks the documentation against the code: generated pages are current, links resolve, the README's program runs. */
import { spawnSync } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryServer } from "../examples/memoryServer.ts"
import { generatedPages } from "../scripts/docs.ts"
import { blocksRunBy } from "./support/documentedBlocks.ts"

const root = resolve(import.meta.dirname, "..")
const read = (file: string) => readFileSync(resolve(root, file), "utf8")

const pages = globSync("{*.md,.changeset/*.md,docs/**/*.md,examples/**/*.md,packages/*/*.md,bench/**/*.md}", {
  cwd: root
}).filter((file) => !file.includes("node_modules"))

/** Fences of code blocks. Text between two of them has no links. */
const prose = (text: string) => text.replace(/^(`{3,}).*\n[\s\S]*?^\1$/gm, "").replace(/`[^`\n]*`/g, "")

/** Whether the text cites the rule, alone or within a range such as L10–L15 or L10 to L15. */
const citesRule = (text: string, rule: string) =>
  [...text.matchAll(/\b([A-Z])(\d+)(?:(?:–| to )\1(\d+))?\b/g)].some(
    ([, letter, first, last = first]) =>
      letter === rule[0] && Number(first) <= Number(rule.slice(1)) && Number(rule.slice(1)) <= Number(last)
  )

const linksOf = (text: string) =>
  [...prose(text).matchAll(/\]\(<?([^)\s>]+)>?(?:\s"[^"]*")?\)/g)].map((found) => found[1] ?? "")

/** The anchors that GitHub makes for headings. */
const anchorsOf = (text: string) =>
  [...text.replace(/^(`{3,}).*\n[\s\S]*?^\1$/gm, "").matchAll(/^#{1,6} (.+)$/gm)].map((found) =>
    (found[1] ?? "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-")
  )

const broken = (file: string): ReadonlyArray<string> =>
  linksOf(read(file))
    .filter((link) => !/^[a-z][a-z+.-]*:/i.test(link))
    .filter((link) => {
      const [path = "", anchor] = link.split("#")
      const target = path === "" ? resolve(root, file) : resolve(root, dirname(file), decodeURIComponent(path))
      if (!existsSync(target)) return true
      return anchor !== undefined && target.endsWith(".md") && !anchorsOf(readFileSync(target, "utf8")).includes(anchor)
    })
    .map((link) => `${file}: ${link}`)

describe("documentation", () => {
  for (const [file, text] of Object.entries(generatedPages))
    it(`${file} is what scripts/docs.ts generates`, () => {
      if (file.endsWith(".json")) assert.deepStrictEqual(JSON.parse(read(file)), JSON.parse(text()))
      else assert.strictEqual(read(file), text())
    })

  it.live("docs/openapi.json is the document that the server serves", () =>
    Effect.gen(function* () {
      const { url } = yield* MemoryServer
      const served = yield* Effect.promise(() => fetch(`${url}/openapi.json`).then((answer) => answer.json()))
      assert.deepStrictEqual(served, JSON.parse(read("docs/openapi.json")))
    }).pipe(Effect.provide(MemoryServer.layer))
  )

  it("every relative link names an existing file, and an existing heading of it", () => {
    assert.isAbove(pages.length, 10)
    assert.deepStrictEqual(pages.flatMap(broken), [])
  })

  it("every page that code refers to exists and has the cited rule", () => {
    const sources = globSync("{packages,test,examples,bench,scripts}/**/*.{ts,tsx,css}", { cwd: root }).filter(
      (file) => !/(^|\/)(node_modules|dist)\//.test(file)
    )
    assert.isAbove(sources.length, 500)
    const dangling = sources.flatMap((file) =>
      [...read(file).matchAll(/(?<![\w/.*}-])([\w.][\w./-]*\.md)\b((?:,? [A-Z]\d+(?:–[A-Z]\d+)?)*)/g)].flatMap(
        ([cited, page = "", rules = ""]) => {
          const there = [resolve(root, page), resolve(root, dirname(file), page)].find((path) => existsSync(path))
          if (there === undefined) return [`${file}: ${page}`]
          const text = readFileSync(there, "utf8")
          const missing = (rules.match(/[A-Z]\d+/g) ?? []).filter((rule) => !text.includes(`**${rule}.**`))
          return missing.length === 0 ? [] : [`${file}: ${cited}`]
        }
      )
    )
    assert.deepStrictEqual(dangling, [])
  })

  it("the rules of a page of the design have ascending numbers, with gaps where rules went", () => {
    for (const file of globSync("docs/design/*.md", { cwd: root })) {
      const numbers = [...read(file).matchAll(/\*\*[A-Z](\d+)\.\*\*/g)].map(([, number]) => Number(number))
      assert.deepStrictEqual(
        numbers,
        [...new Set(numbers)].toSorted((one, other) => one - other),
        file
      )
    }
  })

  it("every rule that a page cites exists", () => {
    const rules = new Set(
      globSync("docs/design/*.md", { cwd: root }).flatMap((file) =>
        [...read(file).matchAll(/\*\*([A-Z]\d+)\.\*\*/g)].map(([, rule]) => rule)
      )
    )
    const cited = pages.flatMap((file) =>
      [...prose(read(file)).matchAll(/\b[ACEILNOPSWZ]\d{1,2}\b/g)].map(([rule]) => ({ file, rule }))
    )
    assert.isAbove(cited.length, 500)
    assert.deepStrictEqual(
      cited.filter(({ rule }) => !rules.has(rule)),
      []
    )
  })

  it("the modules at the left of the four walks exist", () => {
    const [, walks = ""] = /^## Four walks$([\s\S]*?)^## /m.exec(read("ARCHITECTURE.md")) ?? []
    let place = ""
    const missing = walks.split("\n").flatMap((line) => {
      const [, inside = place, names = ""] =
        /^[\d ]\s+(?:(api|http|core|proxy) +)?((?:[\w/-]+(?:\.\w+)?, )*[\w/-]+)/.exec(line) ?? []
      place = inside
      return (names === "" ? [] : names.replace(/\.\w+/g, "").split(", ")).filter(
        (name) => globSync(`packages/${place}/src/**/${name}.{ts,tsx}`, { cwd: root }).length === 0
      )
    })
    assert.deepStrictEqual(missing, [])
  })

  it("every guarantee links to a rule that exists, and to a test that cites it", () => {
    const rows = [...read("docs/guarantees.md").matchAll(/^\| .+ \| \[(.+)\]\((.+)\) \| \[.+\]\((.+)\) \|$/gm)]
    assert.isAbove(rows.length, 80)
    const wrong = rows.filter(([, rules = "", page, file]) => {
      // Other rows name a decision, or a chapter, which the check of links holds.
      if (!/^[A-Z]\d/.test(rules)) return false
      const [text, test] = [read(`docs/${page}`), read(`docs/${file}`)]
      return rules.split(", ").some((rule) => !text.includes(`**${rule}.**`) || !citesRule(test, rule))
    })
    assert.deepStrictEqual(
      wrong.map(([row]) => row),
      []
    )
  })

  it("a rule is cited by its number or by a range that has it", () => {
    const text = "(docs/design/client.md L10–L15, L20 and L22 to L24)"
    assert.deepStrictEqual(
      ["L9", "L10", "L12", "L15", "L16", "L20", "L21", "L23", "N12"].filter((rule) => citesRule(text, rule)),
      ["L10", "L12", "L15", "L20", "L23"]
    )
  })

  it("every example, decision and page of docs is linked", () => {
    const linked = new Set(
      pages.flatMap((file) =>
        linksOf(read(file)).map((link) => resolve(root, dirname(file), (link.split("#")[0] ?? "").toString()))
      )
    )
    const lonely = globSync(["docs/**/*.md", "examples/*.ts"], { cwd: root }).filter(
      (file) => !file.endsWith(".test.ts") && !linked.has(resolve(root, file))
    )
    // The folder of an example is linked by the page or the program that a reader opens first.
    const folders = globSync("examples/*/package.json", { cwd: root }).map(dirname)
    assert.isAbove(folders.length, 5)
    const index = linksOf(read("examples/README.md"))
    const unlinked = folders.filter((folder) => !index.some((link) => `examples/${link}`.startsWith(`${folder}/`)))
    assert.deepStrictEqual([...lonely, ...unlinked], [])
  })

  it("the program in the README runs unchanged", () => {
    const [program = "", ...others] = blocksRunBy("test/documentation.test.ts").map(({ text }) => text)
    assert.isEmpty(others)
    const node = ["--conditions=source", "--input-type=module-typescript", "--eval", program]
    const { status, stderr, stdout } = spawnSync(process.execPath, node, { cwd: root, encoding: "utf8" })
    assert.strictEqual(status, 0, stderr)
    assert.strictEqual(stdout, "scope_insufficient\ninvalid_token\noperation.updated.v1\n")
  })

  it("the README of every package gives the reason for each dependency", () => {
    const silent = globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
      const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = JSON.parse(read(file))
      const text = read(`${dirname(file)}/README.md`)
      return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
        .filter((name) => !text.includes(`\`${name}\``))
        .map((name) => `${file}: ${name}`)
    })
    assert.deepStrictEqual(silent, [])
  })
})

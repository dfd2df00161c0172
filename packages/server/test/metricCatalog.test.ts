/** The catalog of metrics has every metric that the code defines. */
import { globSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { metricCatalog } from "@narthex/server"

const root = resolve(import.meta.dirname, "../../..")
const read = (file: string) => readFileSync(resolve(root, file), "utf8")

/** A definition: `Metric.gauge("name", …)`, or `count("name", …)` of the module of streams. */
const definition =
  /(?:Metric\.(counter|gauge|histogram|frequency|summary|timer)\(|\bcount\()\s*"(\w+)",\s*(?:\{\s*description:\s*)?"([^"]+)"/g

const defined = globSync("packages/*/src/**/*.ts", { cwd: root })
  .map((file) => read(file))
  .filter((text) => text.includes("Metric."))
  .flatMap((text) => [...text.matchAll(definition)])
  .map(([text, kind = "counter", name = "", description = ""]) => ({ text, name, kind, description }))

describe("the catalog of metrics", () => {
  it("the catalog has every metric that the code defines, with its kind and its description", () => {
    assert.sameDeepMembers(
      defined.map(({ description, kind, name }) => ({ name, kind, description })),
      Object.entries(metricCatalog).map(([name, { kind, meaning }]) => ({ name, kind, description: meaning }))
    )
  })

  it("every name has the prefix of the platform, or is one that the processes of all programs have", () => {
    const foreign = Object.keys(metricCatalog).filter((name) => !/^narthex_|^process_/.test(name))
    assert.deepStrictEqual(foreign, [])
  })

  it("counters alone end in `_total`, histograms in their unit", () => {
    const ending = { counter: /_total$/, gauge: /(?<!_total)$/, histogram: /_(?:seconds|bytes)$/ }
    const odd = Object.entries(metricCatalog).filter(([name, { kind }]) => !ending[kind].test(name))
    assert.deepStrictEqual(odd, [])
  })

  it("every definition of a metric in the code is read by this test", () => {
    const definitions = globSync("packages/*/src/**/*.ts", { cwd: root }).flatMap((file) => [
      ...read(file).matchAll(/Metric\.(?:counter|gauge|histogram|frequency|summary|timer)\((?!name,)/g)
    ])
    assert.lengthOf(definitions, defined.filter(({ text }) => text.startsWith("Metric.")).length)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Yaml } from "effect/encoding"
import { toYaml } from "../src/output/yaml.ts"

/** Values that `JSON.parse` can return. Excludes the key `__proto__`, which Effect's parser does not support. */
const isJson = (value: unknown): boolean => {
  if (typeof value === "number") return !Object.is(value, -0)
  if (typeof value === "string") return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isJson)
  return typeof value === "object" && value !== null
    ? Object.entries(value).every(([key, member]) => key !== "__proto__" && key.isWellFormed() && isJson(member))
    : true
}

describe("toYaml", () => {
  it.prop(
    "a parser reads the YAML of any JSON value back unchanged",
    [Schema.Json.check(Schema.makeFilter(isJson))],
    ([value]) => {
      assert.deepStrictEqual(Yaml.parse(toYaml(value)), value)
    },
    { arbitrary: { runs: 500 } }
  )

  it("a string that looks like another type stays a string", () => {
    const texts = [
      "",
      " ",
      "yes",
      "No",
      "null",
      "~",
      "1",
      "1e3",
      "0x1f",
      "_0",
      "2026-01-01",
      "a: b",
      "- a",
      "#a",
      "a #b",
      "*a"
    ]
    const more = [
      "&a",
      "!a",
      "|",
      ">",
      "'a'",
      '"a"',
      "{a}",
      "[a]",
      "@a",
      "`a",
      "%a",
      "?",
      "<<",
      "---",
      "a\nb",
      "\u0085",
      "="
    ]
    assert.deepStrictEqual(Yaml.parse(toYaml([...texts, ...more])), [...texts, ...more])
  })

  it("lists and objects are written in block style", () => {
    assert.strictEqual(
      toYaml({ rules: [{ cidr: "10.0.0.0/8", expires_at: null }], restricted: true, nested: [[1, 2], []], empty: {} }),
      [
        "rules:",
        '  - cidr: "10.0.0.0/8"',
        "    expires_at: null",
        "restricted: true",
        "nested:",
        "  -",
        "    - 1",
        "    - 2",
        "  - []",
        "empty: {}"
      ].join("\n")
    )
  })
})

import { assert, describe, it } from "@effect/vitest"
import { facts, printable, renderTable, rows, sentence } from "../src/output/table.ts"

describe("tables", () => {
  it("a table has two spaces between columns, upper-case headers, and no trailing blanks", () => {
    assert.strictEqual(
      renderTable(rows(["id", "name"], ["1", "first"], ["1000", "second"])),
      "ID    NAME\n1     first\n1000  second"
    )
  })

  it("a table never truncates a cell", () => {
    const long = "x".repeat(500)
    assert.include(renderTable(rows(["label", "id"], [long, "1"])) ?? "", long)
  })

  it("a missing value is a dash", () => {
    assert.strictEqual(
      renderTable(facts(["expires", null], ["label", ""], ["n", 0])),
      "expires  -\nlabel    -\nn        0"
    )
  })

  it("a table without rows is undefined", () => {
    assert.isUndefined(renderTable(rows(["id"])))
  })

  it("characters that control a terminal are escaped", () => {
    assert.strictEqual(printable("a\u001b[31mb\u0007\u202ec\u009b"), "a\\u001b[31mb\\u0007\\u202ec\\u009b")
    assert.strictEqual(renderTable(sentence("a\nb")), "a\\u000ab")
  })
})

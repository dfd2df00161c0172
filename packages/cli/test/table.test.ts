import { assert, describe, it } from "@effect/vitest"
import { facts, printable, renderTable, rows, sentence } from "../src/output/table.ts"

describe("tables", () => {
  it("have two spaces between columns, upper-case heads, and no blanks at a line's end", () => {
    assert.strictEqual(
      renderTable(rows(["id", "name"], ["1", "first"], ["1000", "second"])),
      "ID    NAME\n1     first\n1000  second"
    )
  })

  it("never cut anything off", () => {
    const long = "x".repeat(500)
    assert.include(renderTable(rows(["label", "id"], [long, "1"])) ?? "", long)
  })

  it("show a missing value as a dash", () => {
    assert.strictEqual(
      renderTable(facts(["expires", null], ["label", ""], ["n", 0])),
      "expires  -\nlabel    -\nn        0"
    )
  })

  it("without rows are nothing at all", () => {
    assert.isUndefined(renderTable(rows(["id"])))
  })

  it("make characters visible that steer a terminal", () => {
    assert.strictEqual(printable("a\u001b[31mb\u0007\u202ec\u009b"), "a\\u001b[31mb\\u0007\\u202ec\\u009b")
    assert.strictEqual(renderTable(sentence("a\nb")), "a\\u000ab")
  })
})

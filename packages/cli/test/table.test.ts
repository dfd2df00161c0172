import { assert, describe, it } from "@effect/vitest"
import { renderTable } from "../src/output/renderTable.ts"
import { Bytes, facts, Instant, printable, rows, sentence } from "../src/output/table.ts"
import { textWidth } from "../src/output/textWidth.ts"

describe("tables", () => {
  it("a table has two spaces between columns, upper-case headers, and no trailing blanks", () => {
    assert.strictEqual(
      renderTable(rows(["id", "name"], ["1", "first"], ["1000", "second"])),
      "ID    NAME\n1     first\n1000  second"
    )
  })

  it("a table in a pipe never truncates a cell, and its instants are whole", () => {
    const long = "x".repeat(500)
    const table = rows(["label", "id", "created"], [long, "1", new Instant("2026-11-20T10:00:00.000Z")])
    const text = renderTable(table) ?? ""
    assert.include(text, long)
    assert.include(text, "2026-11-20T10:00:00.000Z")
  })

  it("a table on a terminal is as wide as the terminal at most: ids but the own are cut first, then the widest column", () => {
    const ids = ["prj-01hzx0000000000000000000aa", "01930000-0000-7000-8000-00000000cccc"]
    const narrow = renderTable(rows(["id", "user", "label"], [...ids, "the label"]), { width: 60 })
    assert.strictEqual(
      narrow,
      "ID                              USER            LABEL\nprj-01hzx0000000000000000000aa  0193000…00cccc  the label"
    )
    const narrower = renderTable(rows(["id", "label"], [ids[0], "x".repeat(90)]), { width: 40 }) ?? ""
    assert.deepStrictEqual(narrower.split("\n").map(textWidth), [37, 40])
    assert.match(narrower, /^prj-01hzx0000000000000000000aa.*x…$/m, "commands need the own id of a row")
  })

  it("a table that fits its terminal is not cut", () => {
    const table = rows(["id", "name"], ["prj-01hzx0000000000000000000aa", "shop"])
    assert.strictEqual(renderTable(table, { width: 80 }), renderTable(table))
  })

  it("East Asian characters and emoji take two columns, and are not split", () => {
    const table = rows(["label", "id"], ["東京", "1"], ["👩‍👩‍👧 é", "2"])
    assert.strictEqual(renderTable(table), "LABEL  ID\n東京   1\n👩‍👩‍👧 é   2")
    assert.strictEqual(renderTable(rows(["label"], ["東京タワー"]), { width: 6 }), "LABEL\n東京…")
  })

  it("instants on a terminal are relative in columns, and both in facts", () => {
    const now = Date.parse("2026-11-20T10:00:00.000Z")
    const ago = (millis: number) => new Instant(new Date(now - millis).toISOString())
    const shown = (millis: number) => renderTable(rows(["at"], [ago(millis)]), { now })?.slice(3)
    assert.deepStrictEqual([4e3, 45e3, 6e5, 7.2e6, 1.7e8, 3.5e8, 9e9, -6e5, -2.87e7, -3.59e6, -6.04e8].map(shown), [
      "now",
      "45 s ago",
      "10 min ago",
      "2 h ago",
      "47 h ago",
      "4 d ago",
      "2026-08-08",
      "in 10 min",
      "in 8 h",
      "in 1 h",
      "in 7 d"
    ])
    assert.strictEqual(
      renderTable(facts(["created", ago(6e5)]), { now }),
      "created  2026-11-20T09:50:00.000Z (10 min ago)"
    )
  })

  it("sizes have a unit on a terminal, both forms in facts, and are bytes in a pipe", () => {
    const table = rows(["size"], ...[0, 999, 1000, 33_200_000, 999_960, 2 ** 40, 2 ** 53].map((it) => [new Bytes(it)]))
    assert.deepStrictEqual(renderTable(table, { now: 0 })?.split("\n"), [
      "SIZE",
      "0 B",
      "999 B",
      "1.0 kB",
      "33.2 MB",
      "1.0 MB",
      "1.1 TB",
      "9.0 PB"
    ])
    assert.strictEqual(renderTable(table)?.split("\n")[4], "33200000")
    const fact = (bytes: number) => facts(["size", new Bytes(bytes)])
    assert.strictEqual(renderTable(fact(33_200_000), { now: 0 }), "size  33.2 MB (33200000 B)")
    assert.strictEqual(renderTable(fact(12), { now: 0 }), "size  12 B")
    assert.strictEqual(renderTable(fact(33_200_000)), "size  33200000")
  })

  it("state words have a colour, padding included, and only in columns and facts of states", () => {
    const colour = true
    assert.strictEqual(
      renderTable(rows(["state", "name"], ["ready", "failed"], ["made_by_a_newer_server", "x"]), { colour }),
      `STATE                   NAME\n\u001b[32mready                 \u001b[0m  failed\nmade_by_a_newer_server  x`
    )
    assert.strictEqual(renderTable(facts(["status", "failed"]), { colour }), "status  \u001b[31mfailed\u001b[0m")
    assert.strictEqual(
      renderTable(facts(["state", "init → ready"]), { colour }),
      "state  \u001b[33minit → ready\u001b[0m"
    )
    assert.strictEqual(renderTable(facts(["status", "failed"])), "status  failed")
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
    for (const mark of ["061c", "200e", "200f", "202a", "2066", "2069"])
      assert.strictEqual(printable(String.fromCharCode(Number.parseInt(mark, 16))), `\\u${mark}`)
    assert.strictEqual(renderTable(sentence("a\nb")), "a\\u000ab")
  })
})

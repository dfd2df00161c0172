import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Base64Url } from "effect/encoding"
import { decodeCursor, encodeCursor, pageOfAll } from "../../src/Page.ts"

describe("A cursor", () => {
  it.each(["prj-01k3z6v9e8q0x5m4c2b7n1r0sd", "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10"])(
    "a cursor decodes to %s",
    (id) => {
      assert.deepStrictEqual(decodeCursor(encodeCursor(id)), Result.succeed(id))
    }
  )

  it.each([
    "",
    "prj-1",
    "%%%",
    Base64Url.encode("v2 prj-1"),
    Base64Url.encode("v1 "),
    Base64Url.encode("v1 prj-1\n"),
    Base64Url.encode("v1 prj 1"),
    Base64Url.encode("v1 ' or 1=1"),
    Base64Url.encode(`v1 ${"a".repeat(65)}`)
  ])("%j is not a valid cursor", (text) => {
    assert.isTrue(Result.isFailure(decodeCursor(text)))
  })
})

describe("pageOfAll", () => {
  const rows = Array.from({ length: 7 }, (_, n) => ({ id: `id-${n}` }))
  it.each([1, 2, 3, 6, 7, 8])("pages of %i list every row once, newest first", (limit) => {
    const seen: Array<string> = []
    let after: string | null = null
    let pages = 0
    do {
      const page: ReturnType<typeof pageOfAll> = pageOfAll(rows, { limit, after })
      assert.isAtMost(page.items.length, limit)
      seen.push(...page.items.map(({ id }) => id))
      after = page.next_cursor === null ? null : Result.getOrThrow(decodeCursor(page.next_cursor))
      pages++
      assert.isAtMost(pages, rows.length, "the pages advance")
    } while (after !== null)
    assert.deepStrictEqual(seen, rows.map(({ id }) => id).toReversed())
    assert.strictEqual(pages, Math.ceil(rows.length / limit))
  })

  it("a full last page has no next page", () => {
    assert.isNull(pageOfAll(rows, { limit: 7, after: null }).next_cursor)
    assert.deepStrictEqual(pageOfAll([], { limit: 7, after: null }), { items: [], next_cursor: null })
  })
})

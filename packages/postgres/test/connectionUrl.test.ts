import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readConnectionUrl } from "../src/index.ts"

const read = (url: string) => Result.merge(readConnectionUrl(url))

describe("readConnectionUrl", () => {
  it("a user before an empty host is read as libpq reads it", () => {
    const cases = [
      ["postgres://ann@/db?host=/run/postgresql", "postgres://ann@/db"],
      ["postgresql://ann:p%40s+s@/db?host=/run/postgresql", "postgresql://ann:p%40s+s@/db"]
    ] as const
    const parts = cases.map(([url]) => {
      const { pathname, searchParams } = new URL(read(url))
      return [pathname, searchParams.get("host"), searchParams.get("user"), searchParams.get("password")]
    })
    assert.deepStrictEqual(parts, [
      ["/db", "/run/postgresql", "ann", null],
      ["/db", "/run/postgresql", "ann", "p@s+s"]
    ])
    assert.strictEqual(read("postgres://ann:secret@db.test:5432/db"), "postgres://ann:secret@db.test:5432/db")
  })

  it("several hosts are refused with what to name instead, and without the URL", () => {
    for (const url of [
      "postgres://ann:secret@one,two/db?target_session_attrs=read-write",
      "postgres://ann:secret@one:5432,two:5432/db",
      "postgresql:///db?host=one,two&user=ann&password=secret"
    ]) {
      assert.match(read(url), /^the URL names several hosts\. Name one address that leads to the primary, /)
      assert.notInclude(read(url), "secret")
    }
  })

  it("another text is refused with the forms of a URL", () => {
    for (const url of ["", "shop", "https://localhost/shop", "postgresql:shop", "postgres://ann:secret@h:x/d"])
      assert.match(read(url), /^the URL is unusable\. Expected postgresql:\/\/user:password@host:5432\/database /)
  })
})

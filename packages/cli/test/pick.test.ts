import { assert, describe, it } from "@effect/vitest"
import { pick } from "../src/names/pick.ts"

const named = (...names: ReadonlyArray<string>) => names.map((name, index) => ({ id: `id-${index}`, names: [name] }))

const nearTo = (wanted: string, ...names: ReadonlyArray<string>) => {
  const picked = pick(wanted, named(...names))
  return picked._tag === "Unknown" ? picked.near : picked._tag
}

describe("pick", () => {
  it("a name that one object has finds it, and letter case counts", () => {
    const picked = pick("shop", named("Shop", "shop", "shops"))
    assert.deepStrictEqual(picked, { _tag: "Found", found: { id: "id-1", names: ["shop"] } })
  })

  it("a name that several objects have is ambiguous, with all of them as candidates", () => {
    const picked = pick("shop", named("shop", "other", "shop"))
    const ids = picked._tag === "Ambiguous" ? picked.candidates.map(({ id }) => id) : picked
    assert.deepStrictEqual(ids, ["id-0", "id-2"])
  })

  it("an unknown name suggests names with a slip, another case, or the same beginning", () => {
    assert.deepStrictEqual(nearTo("shpo", "shop", "blog"), ["shop"])
    assert.deepStrictEqual(nearTo("SHOP", "shop"), ["shop"])
    assert.deepStrictEqual(nearTo("sh", "shop", "blog"), ["shop"])
    assert.deepStrictEqual(nearTo("previw", "preview", "production"), ["preview"])
  })

  it("an unknown name suggests nothing that differs too much, and at most three names, the nearest first", () => {
    assert.deepStrictEqual(nearTo("shop", "warehouse", "x"), [])
    assert.deepStrictEqual(nearTo("shop", "chop1", "chop", "ship", "shot", "SHOP").length, 3)
    assert.deepStrictEqual(nearTo("shop", "ship", "SHOP")[0], "SHOP")
  })

  it("an id is found by its beginning or its cut form where no name fits, and not by the prefix of its kind", () => {
    const objects = [
      { id: "br-01m8h2txf35es66y6g0zy0bytq", names: ["main"] },
      { id: "br-01m8h3aaaa5es66y6g0zy0bytq", names: ["preview"] },
      { id: "br-02aaaaaaaa5es66y6g0zy0bzzz", names: ["br-01m8h3"] }
    ]
    const found = (wanted: string) => {
      const picked = pick(wanted, objects)
      return picked._tag === "Found" ? picked.found.names[0] : picked._tag
    }
    assert.strictEqual(found("br-01m8h2"), "main")
    assert.strictEqual(found("br-01m8…6g0zy0bytq"), "Ambiguous")
    assert.strictEqual(found("br-01m8h3a…ytq"), "preview")
    assert.strictEqual(found("br-02…"), "br-01m8h3")
    assert.strictEqual(found("br-01m8h3"), "br-01m8h3")
    for (const short of ["br-", "br-01", "…", "br-…", "01m8h2"]) assert.strictEqual(found(short), "Unknown", short)
  })
})

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
})

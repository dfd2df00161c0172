import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { madeByFirstUse } from "../src/problems/madeByFirstUse.ts"

/** A class that counts how often it is made, and a declaration that extends it. */
const declared = () => {
  let made = 0
  class Declared extends madeByFirstUse(() => {
    made += 1
    return Schema.TaggedError<Declared>()("Declared", { detail: Schema.String })
  }) {
    get loud(): string {
      return this.detail.toUpperCase()
    }
  }
  return { Declared, made: () => made }
}

describe("a class that is made by its first use", () => {
  it("a declaration that extends it does not make it", () => {
    const { Declared, made } = declared()
    assert.strictEqual(typeof Declared, "function")
    assert.strictEqual(made(), 0)
  })

  it("a static member makes it, once", () => {
    const { Declared, made } = declared()
    assert.deepStrictEqual(Object.keys(Declared.fields), ["_tag", "detail"])
    assert.isTrue("fields" in Declared)
    assert.isFalse("none" in Declared)
    assert.strictEqual(made(), 1)
  })

  it("an instance is one of the declaration, and of what the class extends", () => {
    const { Declared, made } = declared()
    const first = new Declared({ detail: "why" })
    assert.deepStrictEqual([first.detail, first.loud, first._tag], ["why", "WHY", "Declared"])
    assert.strictEqual(new Declared({ detail: "again" }).loud, "AGAIN")
    assert.instanceOf(first, Declared)
    assert.instanceOf(first, Error)
    assert.strictEqual(first.constructor, Declared)
    assert.strictEqual(made(), 1)
  })

  it("a schema decodes to instances of the declaration", () => {
    const { Declared } = declared()
    assert.instanceOf(Schema.decodeSync(Declared)({ _tag: "Declared", detail: "why" }), Declared)
  })
})

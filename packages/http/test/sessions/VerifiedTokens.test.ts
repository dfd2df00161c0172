import { assert, describe, it } from "@effect/vitest"
import { VerifiedTokens } from "../../src/sessions/VerifiedTokens.ts"
import { claims } from "./signing.ts"

const token = { kid: "k", claims }

describe("VerifiedTokens", () => {
  it("a token that was not used for the longest time makes room for a new one", () => {
    const tokens = new VerifiedTokens(2)
    tokens.add("first", token)
    tokens.add("second", token)
    assert.strictEqual(tokens.find("first"), token)
    tokens.add("third", token)
    assert.isUndefined(tokens.find("second"))
    assert.deepEqual([tokens.find("first"), tokens.find("third")], [token, token])
  })

  it("a token that is added again takes no second place", () => {
    const tokens = new VerifiedTokens(2)
    for (const text of ["first", "second", "second"]) tokens.add(text, token)
    assert.strictEqual(tokens.find("first"), token)
  })
})

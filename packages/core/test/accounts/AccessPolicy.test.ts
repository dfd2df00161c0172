import { assert, describe, it } from "@effect/vitest"
import { type AccessSettings, accountState, maySignIn } from "../../src/accounts/AccessPolicy.ts"
import { at } from "../../testing/records.ts"

const settings = (rest: Partial<AccessSettings> = {}): AccessSettings => ({
  open_signup: false,
  sign_in_allowlist: [],
  invitations_bypass_gate: false,
  ...rest
})

describe("accountState", () => {
  it("is pending while signup is closed and nobody enabled the account", () => {
    assert.strictEqual(accountState(settings(), { enabled_at: null }), "pending")
    assert.strictEqual(accountState(settings(), { enabled_at: at(0) }), "active")
  })

  it("is never pending while signup is open", () => {
    assert.strictEqual(accountState(settings({ open_signup: true }), { enabled_at: null }), "active")
  })
})

describe("maySignIn", () => {
  const listed = settings({ sign_in_allowlist: ["@example.com"] })
  it("lets everybody in without a list, even without an address", () => {
    assert.isTrue(maySignIn(settings(), { email: null, email_verified: false }))
  })

  it.each([
    ["ada@example.com", true, true],
    ["ada@example.com", false, false],
    ["ada@other.example", true, false],
    [null, true, false]
  ])("with a list, %s verified %s: %s", (email, email_verified, expected) => {
    assert.strictEqual(maySignIn(listed, { email, email_verified }), expected)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { type AccessSettings, accountState, maySignIn } from "../../src/records/accounts/AccessPolicy.ts"
import { at } from "../../testing/records.ts"

const settings = (rest: Partial<AccessSettings> = {}): AccessSettings => ({
  open_signup: false,
  sign_in_allowlist: [],
  invitations_bypass_gate: false,
  ...rest
})

describe("accountState", () => {
  it("an account is pending while signup is closed and no operator has enabled the account", () => {
    assert.strictEqual(accountState(settings(), { enabled_at: null }), "pending")
    assert.strictEqual(accountState(settings(), { enabled_at: at(0) }), "active")
  })

  it("an account is never pending while signup is open", () => {
    assert.strictEqual(accountState(settings({ open_signup: true }), { enabled_at: null }), "active")
  })
})

describe("maySignIn", () => {
  const listed = settings({ sign_in_allowlist: ["@example.com"] })
  it("without an allowlist every account may sign in, even without an address", () => {
    assert.isTrue(maySignIn(settings(), { email: null, email_verified: false }))
  })

  it.each([
    ["ada@example.com", true, true],
    ["ada@example.com", false, false],
    ["ada@other.example", true, false],
    [null, true, false]
  ])("with an allowlist, %s (verified: %s) may sign in: %s", (email, email_verified, expected) => {
    assert.strictEqual(maySignIn(listed, { email, email_verified }), expected)
  })
})

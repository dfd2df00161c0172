/** Holds docs/design/identity.md I34; docs/design/authorization.md Z5. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccessPolicy } from "../../src/records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Membership } from "../../src/records/accounts/Membership.ts"
import { makeKeySecret } from "../../src/records/keys/KeySecret.ts"
import { decide } from "../../src/rules/authorization/decide.ts"
import { reads, self } from "../../src/rules/authorization/Policy.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { ApiKeys } from "../../src/services/keys/ApiKeys.ts"
import { Invitations } from "../../src/services/organizations/Invitations.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { acceptAll, callerOf, People, signedIn, tagOf } from "../memory/core.ts"

const keyFor = (creator: SessionCaller, expires_in_days: number | null = null) =>
  Effect.flatMap(ApiKeys, (keys) =>
    keys.create(creator, {
      name: "ci",
      capability: "read_write",
      scope: { type: "organization" },
      expires_in_days
    })
  )

const setRole = ({ org_id, user }: SessionCaller, role: string) =>
  Effect.flatMap(AccountStore, (accounts) =>
    accounts.putMembership(new Membership({ org_id, user_id: user.id, role, joined_at: DateTime.makeUnsafe(0) }))
  )

/** Ada, and Bob, who signed in as a member of her organization. */
const adaAndBob = Effect.gen(function* () {
  const invitations = yield* Invitations
  const ada = yield* signedIn("ada")
  yield* invitations.create(ada, { email: "bob@example.com", role: "member" })
  return { ada, bob: yield* signedIn("bob") }
})

describe("A key", () => {
  it.effect("a key acts as its creator, with the creator's current rights", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { secret } = yield* keyFor(ada)
      const before = yield* callerOf(secret)
      assert.strictEqual(before.user.id, ada.user.id)
      assert.isTrue(before.permissions.has("delete_organization"))
      yield* setRole(ada, "viewer")
      assert.isFalse((yield* callerOf(secret)).permissions.has("create_projects"))
      yield* setRole(ada, "owner")
      assert.isTrue((yield* callerOf(secret)).permissions.has("delete_organization"))
    }).pipe(Effect.provide(People))
  )

  it.effect("revoked, expired, unknown and mistyped keys are refused with the same error", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const ada = yield* signedIn("ada")
      const revoked = yield* keyFor(ada)
      yield* keys.revoke(ada, revoked.api_key.id)
      const expiring = yield* keyFor(ada, 1)
      yield* TestClock.adjust(86_400_000 - 1)
      yield* callerOf(expiring.secret)
      yield* TestClock.adjust(1)
      const text = Redacted.value(revoked.secret)
      const mistyped = Redacted.make(text.slice(0, -1) + (text.endsWith("a") ? "b" : "a"))
      const errors = yield* Effect.forEach(
        [revoked.secret, expiring.secret, yield* makeKeySecret, mistyped, Redacted.make("nsk_"), Redacted.make("")],
        (secret) => Effect.flip(callerOf(secret))
      )
      for (const error of errors) assert.deepStrictEqual(error, errors[0])
      assert.strictEqual(errors[0]?._tag, "InvalidCredential")
    }).pipe(Effect.provide(People))
  )

  it.effect("a key that ended with its creator's membership answers not_a_member, also after the creator rejoins", () =>
    Effect.gen(function* () {
      const invitations = yield* Invitations
      const organizations = yield* Organizations
      const { ada, bob } = yield* adaAndBob
      const { secret } = yield* keyFor(bob)
      yield* organizations.removeMember(ada, bob.user.id, { confirmed: false, hand_over_credentials: false })
      const gone = yield* callerOf(secret)
      assert.isNull(gone.organization.role)
      for (const policy of [self, reads("none", "branch")])
        assert.strictEqual(decide(policy, gone, {})?.code, "not_a_member")
      yield* invitations.create(ada, { email: "bob@example.com", role: "owner" })
      yield* acceptAll(yield* signedIn("bob"))
      const still = yield* callerOf(secret)
      assert.strictEqual(decide(self, still, {})?.code, "not_a_member")
      assert.strictEqual(still.permissions.size, 0)
      assert.isTrue((yield* callerOf((yield* keyFor(bob)).secret)).permissions.has("manage_owners"))
    }).pipe(Effect.provide(People))
  )

  it.effect("a key revoked before its creator left remains an invalid credential", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const organizations = yield* Organizations
      const { ada, bob } = yield* adaAndBob
      const { api_key, secret } = yield* keyFor(bob)
      yield* keys.revoke(bob, api_key.id)
      yield* organizations.removeMember(ada, bob.user.id, { confirmed: false, hand_over_credentials: false })
      assert.strictEqual(yield* tagOf(callerOf(secret)), "InvalidCredential")
    }).pipe(Effect.provide(People))
  )

  it.effect("a key of a disabled creator is refused, and a key of a pending creator is pending", () =>
    Effect.gen(function* () {
      const operator = yield* OperatorAccounts
      const ada = yield* signedIn("ada")
      const { secret } = yield* keyFor(ada)
      yield* operator.disable(ada.user.id)
      assert.strictEqual(yield* tagOf(callerOf(secret)), "InvalidCredential")
      const closed = { open_signup: false, sign_in_allowlist: [], invitations_bypass_gate: false }
      const bob = yield* keyFor(yield* Effect.provideService(signedIn("bob"), AccessPolicy, closed))
      const pending = yield* Effect.provideService(callerOf(bob.secret), AccessPolicy, closed)
      assert.strictEqual(pending.account_state, "pending")
    }).pipe(Effect.provide(People))
  )

  it.effect("the sign-in allowlist does not apply to keys", () =>
    Effect.gen(function* () {
      const { secret } = yield* keyFor(yield* signedIn("ada"))
      yield* Effect.provideService(callerOf(secret), AccessPolicy, {
        open_signup: true,
        sign_in_allowlist: ["@elsewhere.example"],
        invitations_bypass_gate: false
      })
    }).pipe(Effect.provide(People))
  )

  it.effect("a key of a deleted organization is refused", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const { ada } = yield* adaAndBob
      const { id } = yield* organizations.create(ada, "Team")
      const { secret } = yield* keyFor({ ...ada, org_id: id })
      yield* callerOf(secret)
      yield* organizations.remove({ ...ada, org_id: id })
      assert.strictEqual(yield* tagOf(callerOf(secret)), "InvalidCredential")
    }).pipe(Effect.provide(People))
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { InvitationId } from "../../src/Ids.ts"
import { AccessPolicy } from "../../src/records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { defaultQuotas, QuotaPolicy } from "../../src/records/quotas/Quota.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import { Invitations } from "../../src/services/organizations/Invitations.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { OwnInvitations } from "../../src/services/organizations/OwnInvitations.ts"
import { firstPage } from "../../testing/records.ts"
import { callerOf, People, signedIn, signIn, tagOf } from "../memory/core.ts"

const invite = (by: AnyCaller, email: string, role = "member") =>
  Effect.flatMap(Invitations, (invitations) => invitations.create(by, { email, role }))

const pendingOf = (caller: AnyCaller) =>
  Effect.flatMap(OwnInvitations, (own) => Effect.map(own.list(caller, firstPage), ({ items }) => items))

const week = 7 * 86_400_000

describe("A person's own invitations", () => {
  it.effect("the list shows who invites, into which organization, as which role, newest first", () =>
    Effect.gen(function* () {
      const [ada, eve] = [yield* signedIn({ subject: "ada", name: "Ada Lovelace" }), yield* signedIn("eve")]
      const bob = yield* signedIn("bob")
      const first = yield* invite(ada, "BOB@example.com", "viewer")
      yield* TestClock.adjust("1 second")
      yield* invite(eve, "bob@example.com")
      yield* invite(eve, "carl@example.com")
      const [second, shown] = yield* pendingOf(bob)
      assert.strictEqual(second?.organization.id, eve.org_id)
      assert.deepStrictEqual(
        { ...shown, invited_by: { ...shown?.invited_by } },
        {
          id: first.id,
          organization: { id: ada.org_id, name: "Ada Lovelace's organization" },
          role: "viewer",
          invited_by: { id: ada.user.id, email: "ada@example.com", name: "Ada Lovelace" },
          created_at: first.created_at,
          expires_at: first.expires_at
        }
      )
      assert.lengthOf(yield* pendingOf(bob), 2)
    }).pipe(Effect.provide(People))
  )

  it.effect("the list is empty for an address that the provider has not verified, and for none", () =>
    Effect.gen(function* () {
      yield* invite(yield* signedIn("ada"), "bob@example.com")
      for (const person of [
        { subject: "impostor", email: "bob@example.com", verified: false },
        { subject: "nameless", email: null }
      ])
        assert.deepStrictEqual(yield* pendingOf(yield* signedIn(person)), [])
    }).pipe(Effect.provide(People))
  )

  it.effect("an accepted invitation makes its person a member, once, and changes no session", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const own = yield* OwnInvitations
      const bob = yield* signedIn("bob")
      const ada = yield* signedIn("ada")
      const { id } = yield* invite(ada, "bob@example.com", "admin")
      const joined = yield* own.accept(bob, id)
      assert.deepInclude({ ...joined }, { id: ada.org_id, role: "admin", personal: true })
      const membership = Option.getOrThrow(yield* accounts.findMembership(ada.org_id, bob.user.id))
      assert.deepStrictEqual([membership.role, membership.invited_by], ["admin", null])
      assert.strictEqual((yield* signedIn("bob")).org_id, bob.org_id)
      assert.deepStrictEqual(yield* pendingOf(bob), [])
      assert.strictEqual(yield* tagOf(own.accept(bob, id)), "NotFound")
      assert.strictEqual(yield* tagOf(own.decline(bob, id)), "NotFound")
    }).pipe(Effect.provide(People))
  )

  it.effect("a declined invitation makes no member, and another one can be made", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const own = yield* OwnInvitations
      const invitations = yield* Invitations
      const [ada, bob] = [yield* signedIn("ada"), yield* signedIn("bob")]
      const { id } = yield* invite(ada, "bob@example.com")
      yield* own.decline(bob, id)
      assert.deepStrictEqual(yield* pendingOf(bob), [])
      assert.strictEqual(yield* tagOf(own.accept(bob, id)), "NotFound")
      assert.strictEqual((yield* invitations.list(ada.org_id, firstPage)).items[0]?.status, "revoked")
      assert.isTrue(Option.isNone(yield* accounts.findMembership(ada.org_id, bob.user.id)))
      yield* invite(ada, "bob@example.com")
      assert.lengthOf(yield* pendingOf(bob), 1)
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation that is foreign, unknown, revoked, expired or of an ended organization is not found", () =>
    Effect.gen(function* () {
      const own = yield* OwnInvitations
      const invitations = yield* Invitations
      const organizations = yield* Organizations
      const [ada, bob] = [yield* signedIn("ada"), yield* signedIn("bob")]
      const team = yield* organizations.create(ada, "Team")
      const inTeam = { ...ada, org_id: team.id }
      const ended = yield* invite(inTeam, "bob@example.com")
      yield* organizations.remove(inTeam)
      const revoked = yield* invite(ada, "bob@example.com")
      yield* invitations.revoke(ada, revoked.id)
      yield* TestClock.adjust("1 second")
      const expired = yield* invite(ada, "bob@example.com")
      yield* TestClock.adjust(week)
      const foreign = yield* invite(ada, "carl@example.com")
      const now = yield* signedIn("bob")
      for (const id of [ended.id, revoked.id, expired.id, foreign.id, "nonsense", "\u0000"])
        for (const call of [own.accept, own.decline])
          assert.strictEqual(yield* tagOf(call(now, InvitationId.make(id))), "NotFound", id)
      assert.deepStrictEqual(yield* pendingOf(bob), [])
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation that was refused because of its inviter stays pending and can be accepted later", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const own = yield* OwnInvitations
      const [ada, bob] = [yield* signedIn("ada"), yield* signedIn("bob")]
      const { id } = yield* invite(ada, "bob@example.com")
      const membership = Option.getOrThrow(yield* accounts.findMembership(ada.org_id, ada.user.id))
      yield* accounts.removeMembership(ada.org_id, ada.user.id)
      assert.strictEqual(yield* tagOf(own.accept(bob, id)), "Conflict")
      assert.lengthOf(yield* pendingOf(bob), 1)
      yield* accounts.putMembership(membership)
      assert.strictEqual((yield* own.accept(bob, id)).role, "member")
    }).pipe(Effect.provide(People))
  )

  it.effect(
    "an accepted invitation keeps its place in the quota of members and gives back the one of invitations",
    () =>
      Effect.gen(function* () {
        const own = yield* OwnInvitations
        const organizations = yield* Organizations
        const [ada, bob] = [yield* signedIn("ada"), yield* signedIn("bob")]
        const held = Effect.map(organizations.usage(ada), (usage) =>
          Object.fromEntries(usage.map((it) => [it.quota, it.held]))
        )
        const { id } = yield* invite(ada, "bob@example.com")
        assert.deepInclude(yield* held, { members: 2, invitations: 1 })
        yield* own.accept(bob, id)
        assert.deepInclude(yield* held, { members: 2, invitations: 0 })
        assert.strictEqual(yield* tagOf(invite(ada, "carl@example.com")), "QuotaExceeded")
      }).pipe(
        Effect.provideService(QuotaPolicy, { ...defaultQuotas, members: 2, personal_percent: 100 }),
        Effect.provide(People)
      )
  )

  it.effect("an accepted invitation enables a pending account, if the operator lets invitations bypass the gate", () =>
    Effect.gen(function* () {
      const own = yield* OwnInvitations
      const ada = yield* signedIn("ada")
      const policy = { open_signup: false, sign_in_allowlist: [], invitations_bypass_gate: false }
      const closed = Effect.provideService(AccessPolicy, policy)
      const bypassing = Effect.provideService(AccessPolicy, { ...policy, invitations_bypass_gate: true })
      const { access_token } = yield* closed(signIn("bob"))
      const bob = yield* closed(callerOf(access_token))
      const first = yield* invite(ada, "bob@example.com")
      yield* closed(own.accept(bob, first.id))
      assert.strictEqual((yield* closed(callerOf(access_token))).account_state, "pending")
      const eve = yield* signedIn("eve")
      const second = yield* invite(eve, "bob@example.com")
      yield* bypassing(own.accept(bob, second.id))
      assert.strictEqual((yield* closed(callerOf(access_token))).account_state, "active")
    }).pipe(Effect.provide(People))
  )
})

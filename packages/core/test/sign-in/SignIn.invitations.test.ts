import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { InvitationId } from "../../src/Ids.ts"
import { AccessPolicy, type AccessSettings } from "../../src/records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Membership } from "../../src/records/accounts/Membership.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { Invitations } from "../../src/services/organizations/Invitations.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { OwnInvitations } from "../../src/services/organizations/OwnInvitations.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { firstPage } from "../../testing/records.ts"
import { acceptAll, callerOf, keyCallerOf, People, sessionCallerOf, signedIn, signIn } from "../memory/core.ts"

const open: AccessSettings = { open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false }
const access = (rest: Partial<AccessSettings>) => Effect.provideService(AccessPolicy, { ...open, ...rest })

/** Signs a user in, creates a team organization and switches to it; returns the session's caller. */
const founder = (name: string) =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    const sessions = yield* Sessions
    const first = yield* signIn(name)
    const { id } = yield* organizations.create(yield* sessionCallerOf(first.access_token), `Team of ${name}`)
    const moved = yield* sessions.switchOrg(yield* sessionCallerOf(first.access_token), id)
    return yield* sessionCallerOf(moved.access_token)
  })

const invite = (by: SessionCaller, email: string, role = "member") =>
  Effect.flatMap(Invitations, (invitations) => invitations.create(by, { email, role }))

const setRole = (by: SessionCaller, role: string) =>
  Effect.flatMap(AccountStore, (accounts) =>
    accounts.putMembership(
      new Membership({ org_id: by.org_id, user_id: by.user.id, role, joined_at: DateTime.makeUnsafe(0) })
    )
  )

describe("An invitation", () => {
  it.effect("an invited user starts in the team organization, and has a personal one too", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const invitations = yield* Invitations
      const ada = yield* founder("ada")
      yield* invite(ada, "Bob@Example.com", "admin")
      const bob = yield* signIn({ subject: "bob", email: "bob@EXAMPLE.com" })
      assert.deepInclude({ ...bob.organization }, { id: ada.org_id, role: "admin", personal: false })
      assert.strictEqual((yield* accounts.organizationsOf(bob.user.id, firstPage)).items.length, 2)
      const [invitation] = (yield* invitations.list(ada.org_id, firstPage)).items
      assert.strictEqual(invitation?.status, "accepted")
    }).pipe(Effect.provide(People))
  )

  it.effect(
    "a user with several invitations starts in the organization that invited first, and the others stay pending",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const own = yield* OwnInvitations
        for (const inviter of ["employer", "stranger", "friend"]) {
          yield* invite(yield* founder(inviter), "bob@example.com")
          yield* TestClock.adjust("1 second")
        }
        const { access_token, invited_by, organization, user } = yield* signIn("bob")
        assert.strictEqual(organization.name, "Team of employer")
        assert.strictEqual(invited_by?.email, "employer@example.com")
        assert.strictEqual((yield* accounts.organizationsOf(user.id, firstPage)).items.length, 2)
        const pending = yield* own.list(yield* callerOf(access_token), firstPage)
        assert.deepStrictEqual(
          pending.items.map(({ organization: { name } }) => name),
          ["Team of friend", "Team of stranger"]
        )
      }).pipe(Effect.provide(People))
  )

  it.effect("a sign-in passes over an invitation that has ended, or whose inviter may no longer invite", () =>
    Effect.gen(function* () {
      const { revoke } = yield* Invitations
      const gone = yield* founder("gone")
      const ended = yield* invite(gone, "bob@example.com")
      yield* TestClock.adjust("1 second")
      const demoted = yield* founder("demoted")
      yield* invite(demoted, "bob@example.com")
      yield* TestClock.adjust("1 second")
      yield* invite(yield* founder("employer"), "bob@example.com")
      yield* revoke(gone, ended.id)
      yield* setRole(demoted, "member")
      assert.strictEqual((yield* signIn("bob")).organization.name, "Team of employer")
    }).pipe(Effect.provide(People))
  )

  it.effect("neither a refresh nor a later sign-in joins an existing user to an organization", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const sessions = yield* Sessions
      const stranger = yield* founder("stranger")
      const bob = yield* signIn("bob")
      yield* invite(stranger, "bob@example.com", "owner")
      for (const session of [yield* sessions.refresh(bob.access_token), yield* signIn("bob")]) {
        assert.strictEqual(session.organization.id, bob.organization.id)
        assert.isNull(session.invited_by)
      }
      assert.isTrue(Option.isNone(yield* accounts.findMembership(stranger.org_id, bob.user.id)))
    }).pipe(Effect.provide(People))
  )

  it.effect("the session of an invited user names the inviter until the user switches to the organization", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const ada = yield* founder("ada")
      yield* invite(ada, "bob@example.com")
      const bob = yield* signIn("bob")
      assert.deepStrictEqual({ ...bob.invited_by }, { id: ada.user.id, email: "ada@example.com", name: null })
      const refreshed = yield* sessions.refresh(bob.access_token)
      assert.strictEqual(refreshed.invited_by?.id, ada.user.id)
      const caller = yield* sessionCallerOf(refreshed.access_token)
      assert.strictEqual(caller.invited_by?.id, ada.user.id)
      const key = yield* keyCallerOf(caller, "read")
      assert.strictEqual(key.invited_by?.id, ada.user.id)
      const home = yield* sessions.switchOrg(caller, bob.user.id)
      assert.isNull(home.invited_by)
      const back = yield* sessions.switchOrg(yield* sessionCallerOf(home.access_token), ada.org_id)
      assert.deepStrictEqual([back.organization.id, back.invited_by], [ada.org_id, null])
      assert.isTrue((yield* signIn("bob")).organization.personal)
    }).pipe(Effect.provide(People))
  )

  it.effect("a sign-in whose first answer was lost lands in the same organization, until the user leaves it", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const ada = yield* founder("ada")
      yield* invite(ada, "bob@example.com")
      yield* signIn("bob")
      const bob = yield* signedIn("bob")
      assert.deepStrictEqual([bob.org_id, bob.invited_by?.id], [ada.org_id, ada.user.id])
      yield* organizations.removeMember(bob, bob.user.id, { confirmed: true, hand_over_credentials: false })
      assert.isTrue((yield* signIn("bob")).organization.personal)
    }).pipe(Effect.provide(People))
  )

  it.effect("a change of role does not confirm the membership of an invited user", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const ada = yield* founder("ada")
      yield* invite(ada, "bob@example.com")
      const bob = yield* signedIn("bob")
      yield* organizations.changeRole(ada, bob.user.id, "admin", false)
      const { invited_by, organization } = yield* signIn("bob")
      assert.deepStrictEqual([organization.role, invited_by?.id], ["admin", ada.user.id])
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation is accepted with a verified address only", () =>
    Effect.gen(function* () {
      const ada = yield* founder("ada")
      yield* invite(ada, "bob@example.com")
      const impostor = yield* signIn({ subject: "impostor", email: "bob@example.com", verified: false })
      assert.isTrue(impostor.organization.personal)
      const bob = yield* signIn({ subject: "bob" })
      assert.strictEqual(bob.organization.id, ada.org_id)
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation expires after seven days, to the millisecond", () =>
    Effect.gen(function* () {
      const ada = yield* founder("ada")
      for (const email of ["bob@example.com", "cy@example.com"]) yield* invite(ada, email)
      yield* TestClock.adjust(7 * 86_400_000 - 1)
      assert.strictEqual((yield* signIn("bob")).organization.id, ada.org_id)
      yield* TestClock.adjust(1)
      assert.isTrue((yield* signIn("cy")).organization.personal)
    }).pipe(Effect.provide(People))
  )

  it.effect(
    "an invitation is not accepted when its inviter may no longer create it, neither at sign-in nor by the user",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const own = yield* OwnInvitations
        const operator = yield* OperatorAccounts
        const changes = {
          demoted: (by: SessionCaller) => setRole(by, "member"),
          "below the role": (by: SessionCaller) => setRole(by, "admin"),
          gone: (by: SessionCaller) => accounts.removeMembership(by.org_id, by.user.id),
          disabled: (by: SessionCaller) => operator.disable(by.user.id)
        }
        for (const [change, apply] of Object.entries(changes)) {
          const ada = yield* founder(`ada ${change}`)
          yield* invite(
            ada,
            `bob-${change.replaceAll(" ", "-")}@example.com`,
            change === "below the role" ? "owner" : "member"
          )
          yield* apply(ada)
          const bob = yield* signIn(`bob-${change.replaceAll(" ", "-")}`)
          assert.isTrue(bob.organization.personal, change)
          assert.isTrue(Option.isNone(yield* accounts.findMembership(ada.org_id, bob.user.id)), change)
          const caller = yield* callerOf(bob.access_token)
          const [pending] = (yield* own.list(caller, firstPage)).items
          const refused = yield* Effect.flip(own.accept(caller, pending?.id ?? InvitationId.make("none")))
          assert.strictEqual(refused._tag, "Conflict", change)
          assert.match(refused.message, /may no longer invite/)
          assert.isTrue(Option.isNone(yield* accounts.findMembership(ada.org_id, bob.user.id)), change)
        }
      }).pipe(Effect.provide(People))
  )

  it.effect("an invitation stays valid while its inviter, now an admin, may still create it", () =>
    Effect.gen(function* () {
      const ada = yield* founder("ada")
      yield* invite(ada, "bob@example.com", "admin")
      yield* setRole(ada, "admin")
      assert.strictEqual((yield* signIn("bob")).organization.id, ada.org_id)
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation bypasses the sign-up gate at once, and only if the operator allows it", () =>
    Effect.gen(function* () {
      const ada = yield* founder("ada")
      for (const email of ["bob@example.com", "cy@example.com"]) yield* invite(ada, email)
      const closed = access({ open_signup: false })
      const bypassing = access({ open_signup: false, invitations_bypass_gate: true })
      assert.strictEqual((yield* closed(signIn("bob"))).account_state, "pending")
      const cy = yield* bypassing(signIn("cy"))
      assert.strictEqual(cy.account_state, "active")
      assert.strictEqual((yield* closed(callerOf(cy.access_token))).account_state, "active")
      assert.strictEqual((yield* bypassing(signIn("uninvited"))).account_state, "pending")
    }).pipe(Effect.provide(People))
  )

  it.effect("an invitation does not change the role of an existing member", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const ada = yield* founder("ada")
      yield* invite(ada, "ada@example.com", "viewer")
      const [joined] = yield* acceptAll(yield* signedIn("ada"))
      assert.strictEqual(joined?.role, "owner")
      const membership = yield* accounts.findMembership(ada.org_id, ada.user.id)
      assert.strictEqual(Option.getOrThrow(membership).role, "owner")
    }).pipe(Effect.provide(People))
  )
})

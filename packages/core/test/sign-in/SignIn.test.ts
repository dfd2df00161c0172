import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { AccessPolicy, type AccessSettings } from "../../src/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { Membership } from "../../src/accounts/Membership.ts"
import type { SessionCaller } from "../../src/authorization/Principal.ts"
import { Invitations } from "../../src/organizations/Invitations.ts"
import { OperatorAccounts } from "../../src/organizations/OperatorAccounts.ts"
import { Organizations } from "../../src/organizations/Organizations.ts"
import { Sessions } from "../../src/sign-in/Sessions.ts"
import { firstPage } from "../../testing/records.ts"
import { callerOf, device, idTokenOf, People, sessionCallerOf, signedIn, signIn } from "../memory/core.ts"

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

describe("The first sign-in", () => {
  it.effect("the first sign-in creates the user and a personal organization that they own", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const { account_state, organization, user } = yield* signIn({ subject: "ada", name: "Ada Lovelace" })
      assert.strictEqual(account_state, "active")
      assert.deepInclude({ ...organization }, { personal: true, role: "owner", name: "Ada Lovelace's organization" })
      const all = (yield* accounts.organizationsOf(user.id, firstPage)).items
      assert.deepStrictEqual(
        all.map(({ id, role }) => ({ id, role })),
        [{ id: organization.id, role: "owner" }]
      )
    }).pipe(Effect.provide(People))
  )

  it.effect("simultaneous sign-ins of one person create one account", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const answers = yield* Effect.forEach(Array.from({ length: 40 }), () => signIn("ada"), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(answers.map(({ user }) => user.id)).size, 1)
      assert.strictEqual(new Set(answers.map(({ organization }) => organization.id)).size, 1)
      assert.strictEqual((yield* accounts.users(firstPage)).items.length, 1)
    }).pipe(Effect.provide(People))
  )

  it.effect("a pending account has a personal organization too", () =>
    Effect.gen(function* () {
      const { account_state, organization } = yield* signIn("ada").pipe(access({ open_signup: false }))
      assert.strictEqual(account_state, "pending")
      assert.isTrue(organization.personal)
    }).pipe(Effect.provide(People))
  )

  it.effect("a personal organization has a default name, and a long name is cut between characters", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* signIn({ subject: "a", email: null })).organization.name, "Personal")
      assert.strictEqual((yield* signIn({ subject: "b", email: null, name: "\u0007 " })).organization.name, "Personal")
      const long = yield* signIn({ subject: "c", name: "🦆".repeat(200) })
      assert.strictEqual(long.organization.name, `${"🦆".repeat(100)}'s organization`)
    }).pipe(Effect.provide(People))
  )

  it.effect("a user is identified by issuer and subject, never by address", () =>
    Effect.gen(function* () {
      const a = yield* signIn({ subject: "a", email: "same@example.com" })
      const b = yield* signIn({ subject: "b", email: "same@example.com" })
      assert.notStrictEqual(a.user.id, b.user.id)
      const renamed = yield* signIn({ subject: "a", email: "new@example.com", name: "New" })
      assert.deepStrictEqual({ ...renamed.user }, { id: a.user.id, email: "new@example.com", name: "New" })
    }).pipe(Effect.provide(People))
  )
})

describe("The sign-in allowlist", () => {
  const listed = access({ sign_in_allowlist: ["@example.com"] })

  it.effect("a sign-in that the allowlist refuses writes no row and spends no id token", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const sessions = yield* Sessions
      for (const person of [
        { subject: "eve", email: "eve@elsewhere.example" },
        { subject: "unverified", verified: false },
        { subject: "nameless", email: null }
      ]) {
        const token = yield* idTokenOf(person)
        assert.strictEqual((yield* Effect.flip(listed(sessions.exchange(token, device))))._tag, "EmailNotAllowed")
        assert.strictEqual((yield* accounts.users(firstPage)).items.length, 0)
        assert.isTrue(Option.isNone(yield* accounts.lockUserByIdentity("https://issuer.test", person.subject)))
      }
      yield* listed(signIn("ada"))
    }).pipe(Effect.provide(People))
  )

  it.effect("the allowlist refuses a user who signed in before it was set", () =>
    Effect.gen(function* () {
      yield* signIn({ subject: "eve", email: "eve@elsewhere.example" })
      const again = listed(signIn({ subject: "eve", email: "eve@elsewhere.example" }))
      assert.strictEqual((yield* Effect.flip(again))._tag, "EmailNotAllowed")
    }).pipe(Effect.provide(People))
  )
})

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

  it.effect("a user with several invitations starts in the organization of the newest", () =>
    Effect.gen(function* () {
      const [ada, eve] = [yield* founder("ada"), yield* founder("eve")]
      yield* invite(eve, "bob@example.com")
      yield* TestClock.adjust("1 second")
      yield* invite(ada, "bob@example.com")
      const bob = yield* signIn("bob")
      assert.strictEqual(bob.organization.id, ada.org_id)
      const accounts = yield* AccountStore
      assert.strictEqual((yield* accounts.organizationsOf(bob.user.id, firstPage)).items.length, 3)
    }).pipe(Effect.provide(People))
  )

  it.effect("a refresh accepts an existing user's invitation and keeps the active organization", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const sessions = yield* Sessions
      const ada = yield* founder("ada")
      const bob = yield* signIn("bob")
      yield* invite(ada, "bob@example.com")
      const refreshed = yield* sessions.refresh(bob.access_token)
      assert.strictEqual(refreshed.organization.id, bob.organization.id)
      assert.isTrue(Option.isSome(yield* accounts.findMembership(ada.org_id, bob.user.id)))
      const again = yield* signIn("bob")
      assert.strictEqual(again.organization.id, bob.organization.id)
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

  it.effect("an invitation is void when its inviter may no longer create it", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const invitations = yield* Invitations
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
        assert.notStrictEqual((yield* invitations.list(ada.org_id, firstPage)).items[0]?.status, "pending", change)
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
      yield* signedIn("ada")
      const membership = yield* accounts.findMembership(ada.org_id, ada.user.id)
      assert.strictEqual(Option.getOrThrow(membership).role, "owner")
    }).pipe(Effect.provide(People))
  )
})

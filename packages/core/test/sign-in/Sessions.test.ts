/** Holds docs/design/identity.md I2 and I23. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Membership } from "../../src/records/accounts/Membership.ts"
import { decide } from "../../src/rules/authorization/decide.ts"
import { reads, self } from "../../src/rules/authorization/Policy.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { firstPage } from "../../testing/records.ts"
import { callerOf, logged, sessionCallerOf, signedIn, signIn, tagOf } from "../memory/core.ts"
import { access, claimsOf, inTest, team, under } from "./inTest.ts"

describe("The JWT of a session", () => {
  it.effect("an access token lasts 15 minutes, and never past the session's window", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        let { access_token } = yield* signIn("ada")
        const first = yield* claimsOf(access_token)
        assert.strictEqual(first.exp - first.iat, 900)
        assert.strictEqual(first.auth_time, first.iat)
        assert.strictEqual(first.gen, 1)
        yield* TestClock.adjust("710 minutes")
        ;({ access_token } = yield* sessions.refresh(access_token))
        const last = yield* claimsOf(access_token)
        assert.strictEqual(last.exp, first.auth_time + 12 * 3600)
        assert.strictEqual(last.auth_time, first.auth_time)
        assert.notStrictEqual(last.jti, first.jti)
      })
    )
  )

  it.effect("an access token expires at its exp, and past the window a new sign-in is required", () =>
    inTest(
      Effect.gen(function* () {
        const { access_token, expires_at } = yield* signIn("ada")
        yield* TestClock.setTime(expires_at.epochMilliseconds - 1)
        yield* callerOf(access_token)
        yield* TestClock.setTime(expires_at.epochMilliseconds)
        assert.strictEqual(yield* tagOf(callerOf(access_token)), "TokenExpired")
        yield* TestClock.adjust("12 hours")
        assert.strictEqual(yield* tagOf(callerOf(access_token)), "SignInRequired")
      })
    )
  )

  it.effect("a sign-in returns the token's expiry and the end of the refresh window", () =>
    inTest(
      Effect.gen(function* () {
        const answer = yield* signIn({ subject: "ada", name: "Ada" })
        const { auth_time, exp } = yield* claimsOf(answer.access_token)
        assert.strictEqual(answer.expires_at.epochMilliseconds, exp * 1000)
        assert.strictEqual(Math.floor(answer.refresh_until.epochMilliseconds / 1000), auth_time + 12 * 3600)
        assert.strictEqual(answer.organization.role, "owner")
        assert.isTrue(answer.organization.personal)
        assert.strictEqual(answer.account_state, "active")
      })
    )
  )
})

describe("Refreshing", () => {
  it.effect("an expired token can be refreshed until 12 hours after the sign-in, exclusive", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token, refresh_until } = yield* signIn("ada")
        yield* TestClock.setTime(refresh_until.epochMilliseconds - 1)
        yield* sessions.refresh(access_token)
        yield* TestClock.setTime(refresh_until.epochMilliseconds)
        assert.strictEqual(yield* tagOf(sessions.refresh(access_token)), "SignInRequired")
      })
    )
  )

  it.effect("refreshing does not extend the window", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        let { access_token, refresh_until } = yield* signIn("ada")
        for (let hour = 0; hour < 11; hour++) {
          yield* TestClock.adjust("1 hour")
          const next = yield* sessions.refresh(access_token)
          assert.deepStrictEqual(next.refresh_until, refresh_until)
          ;({ access_token } = next)
        }
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* tagOf(sessions.refresh(access_token)), "SignInRequired")
      })
    )
  )

  it.effect("refreshing a superseded token returns the session's current organization", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token: late } = yield* signIn("ada")
        const { id } = yield* team(late)
        yield* sessions.switchOrg(yield* sessionCallerOf(late), id)
        const refreshed = yield* sessions.refresh(late)
        assert.strictEqual(refreshed.organization.id, id)
        assert.strictEqual((yield* claimsOf(refreshed.access_token)).gen, 3)
      })
    )
  )

  it.effect("a refresh after losing the active organization selects the user's personal one", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const store = yield* AccountStore
        const organizations = yield* Organizations
        const ada = yield* signedIn("ada") // Ada's personal organization is older than Bob's.
        yield* TestClock.adjust("1 second")
        const bob = yield* signIn("bob")
        const own = bob.organization.id
        for (const org_id of [ada.org_id, (yield* organizations.create(ada, "Team")).id])
          yield* store.putMembership(
            new Membership({ org_id, user_id: bob.user.id, role: "owner", joined_at: yield* DateTime.now })
          )
        const { items } = yield* store.organizationsOf(bob.user.id, firstPage)
        const teamId = items.find(({ name }) => name === "Team")?.id ?? "none"
        const moved = yield* sessions.switchOrg(yield* sessionCallerOf(bob.access_token), teamId)
        yield* store.removeMembership(moved.organization.id, bob.user.id)
        const refreshed = yield* sessions.refresh(moved.access_token)
        assert.strictEqual(refreshed.organization.id, own)
        assert.strictEqual((yield* signIn("bob")).organization.id, own, "and so does a new sign-in")
      })
    )
  )

  it.effect("a promotion takes effect at the next refresh, a demotion at once", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const store = yield* AccountStore
        const { access_token, organization, user } = yield* signIn("ada")
        const role = (name: string) =>
          Effect.flatMap(DateTime.now, (joined_at) =>
            store.putMembership(new Membership({ org_id: organization.id, user_id: user.id, role: name, joined_at }))
          )
        yield* role("viewer")
        const demoted = yield* sessionCallerOf(access_token)
        assert.isFalse(demoted.permissions.has("create_projects"))
        assert.strictEqual(demoted.organization.role, "viewer")
        const viewer = (yield* sessions.refresh(access_token)).access_token
        yield* role("admin")
        assert.isFalse((yield* sessionCallerOf(viewer)).permissions.has("create_projects"))
        assert.strictEqual((yield* sessionCallerOf(viewer)).organization.role, "viewer")
        const admin = (yield* sessions.refresh(viewer)).access_token
        assert.isTrue((yield* sessionCallerOf(admin)).permissions.has("delete_projects"))
      })
    )
  )

  it.effect("a refresh by a user no longer on the sign-in allowlist ends the session at once", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token } = yield* signIn("ada")
        const narrowed = sessions.refresh(access_token).pipe(access({ sign_in_allowlist: ["@elsewhere.example"] }))
        assert.strictEqual(yield* tagOf(narrowed), "EmailNotAllowed")
        assert.strictEqual(yield* tagOf(sessions.refresh(access_token)), "SignInRequired")
        assert.strictEqual(yield* tagOf(callerOf(access_token)), "SignInRequired")
        const { sid } = yield* claimsOf(access_token)
        assert.isTrue((yield* logged).some((event) => event.data["session_id"] === sid))
      })
    )
  )

  it.effect("a pending account can refresh, and enabling it applies to its current token", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const operator = yield* OperatorAccounts
        const closed = access({ open_signup: false })
        const { access_token, account_state, user } = yield* closed(signIn("ada"))
        assert.strictEqual(account_state, "pending")
        const refreshed = yield* closed(sessions.refresh(access_token))
        assert.strictEqual(refreshed.account_state, "pending")
        const caller = yield* closed(sessionCallerOf(refreshed.access_token))
        assert.strictEqual(decide(reads("none", "branch"), caller, {})?.code, "alpha_pending")
        assert.isUndefined(decide(self, caller, {}))
        yield* operator.enable(user.id)
        assert.strictEqual((yield* closed(sessionCallerOf(refreshed.access_token))).account_state, "active")
      })
    )
  )
})

describe("A superseded token", () => {
  it.effect("a superseded token of any age refreshes when reuse is only observed", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token: old } = yield* signIn("ada")
        yield* sessions.refresh(old)
        yield* TestClock.adjust("2 hours")
        assert.strictEqual((yield* claimsOf((yield* sessions.refresh(old)).access_token)).gen, 3)
      })
    )
  )

  it.effect("a superseded token refreshes for a minute under grace60, and later ends the session", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token: old } = yield* signIn("ada")
        yield* TestClock.adjust("1 hour")
        const { access_token: present } = yield* sessions.refresh(old)
        yield* TestClock.adjust("60 seconds")
        const raced = yield* sessions.refresh(old)
        assert.strictEqual((yield* claimsOf(raced.access_token)).gen, 3)
        yield* TestClock.adjust("61 seconds")
        assert.strictEqual(yield* tagOf(sessions.refresh(present)), "SignInRequired")
        assert.strictEqual(yield* tagOf(sessions.refresh(raced.access_token)), "SignInRequired")
      }).pipe(under({ reuse: "grace60" }))
    )
  )

  it.effect("a superseded token ends the session at once under revoke, for the current token too", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token: old } = yield* signIn("ada")
        const { access_token: present } = yield* sessions.refresh(old)
        assert.strictEqual(yield* tagOf(sessions.refresh(old)), "SignInRequired")
        assert.strictEqual(yield* tagOf(callerOf(present)), "SignInRequired")
      }).pipe(under({ reuse: "revoke" }))
    )
  )

  it.effect("sixty simultaneous refreshes return tokens of distinct generations", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token } = yield* signIn("ada")
        const fresh = yield* Effect.forEach(Array.from({ length: 60 }), () => sessions.refresh(access_token), {
          concurrency: "unbounded"
        })
        const gens = yield* Effect.forEach(fresh, (it) => Effect.map(claimsOf(it.access_token), ({ gen }) => gen))
        assert.strictEqual(new Set(gens).size, 60)
      })
    )
  )
})

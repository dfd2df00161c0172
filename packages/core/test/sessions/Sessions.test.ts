import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, type Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccessPolicy, type AccessSettings } from "../../src/access/AccessPolicy.ts"
import { AccountStore } from "../../src/accounts/AccountStore.ts"
import { Membership } from "../../src/accounts/Membership.ts"
import { OperatorAccounts } from "../../src/accounts/OperatorAccounts.ts"
import { Organizations } from "../../src/accounts/Organizations.ts"
import { decide } from "../../src/authorization/decide.ts"
import { reads, self } from "../../src/authorization/Policy.ts"
import { SessionPolicy, type SessionSettings } from "../../src/sessions/Session.ts"
import { Sessions } from "../../src/sessions/Sessions.ts"
import { SessionStore } from "../../src/sessions/SessionStore.ts"
import { TokenSigner } from "../../src/sessions/TokenSigner.ts"
import { callerOf, device, idTokenOf, logged, People, sessionCallerOf, signedIn, signIn } from "../memory/core.ts"

const defaults: SessionSettings = {
  jwt_lifetime: Duration.minutes(15),
  window: Duration.hours(12),
  reuse: "observe",
  id_token_replay: "allow"
}
const under = (rest: Partial<SessionSettings>) => Effect.provideService(SessionPolicy, { ...defaults, ...rest })
const open: AccessSettings = { open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false }
const access = (rest: Partial<AccessSettings>) => Effect.provideService(AccessPolicy, { ...open, ...rest })
const claimsOf = (token: Redacted.Redacted) => Effect.flatMap(TokenSigner, ({ verify }) => verify(token))
const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

const team = (token: Redacted.Redacted, name = "Team") =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    return yield* organizations.create(yield* sessionCallerOf(token), name)
  })

// The clock is set before the layers are built: what repeats in them must not run for years.
const inTest = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof People>>) =>
  Effect.andThen(TestClock.setTime(Date.parse("2026-01-01T00:00:00.750Z")), Effect.provide(effect, People))

describe("The JWT of a session", () => {
  it.effect("lasts fifteen minutes, and never past the window", () =>
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

  it.effect("expires at its exp: refreshing helps until the window ends, then only signing in", () =>
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

  it.effect("is answered with when to refresh and until when", () =>
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
  it.effect("takes an expired token within twelve hours of the sign-in, and not at twelve hours", () =>
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

  it.effect("does not move the window on", () =>
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

  it.effect("gives a late tab the session's present organization", () =>
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

  it.effect("falls back to the person's own organization when the active one is lost, whoever else's they are in", () =>
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
        const { items } = { items: yield* store.organizationsOf(bob.user.id) }
        const teamId = items.find(({ name }) => name === "Team")?.id ?? "none"
        const moved = yield* sessions.switchOrg(yield* sessionCallerOf(bob.access_token), teamId)
        yield* store.removeMembership(moved.organization.id, bob.user.id)
        const refreshed = yield* sessions.refresh(moved.access_token)
        assert.strictEqual(refreshed.organization.id, own)
        assert.strictEqual((yield* signIn("bob")).organization.id, own, "and so does a new sign-in")
      })
    )
  )

  it.effect("reads the role again: a promotion counts from there, a demotion at once", () =>
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

  it.effect("ends the session of somebody who is no longer on the sign-in allowlist, in the same step", () =>
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

  it.effect("works for a pending account, and enabling acts on the token already held", () =>
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
  it.effect("still refreshes, however old, while it is only observed", () =>
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

  it.effect("refreshes for a minute under grace60, and ends the session after it", () =>
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

  it.effect("ends the session at once under revoke, for the present token too", () =>
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

  it.effect("of sixty refreshes at once each gets a generation of its own", () =>
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

describe("Switching organizations", () => {
  it.effect("keeps the session and its sign-in time", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token } = yield* signIn("ada")
        const before = yield* claimsOf(access_token)
        const { id } = yield* team(access_token)
        yield* TestClock.adjust("10 minutes")
        const after = yield* claimsOf(
          (yield* sessions.switchOrg(yield* sessionCallerOf(access_token), id)).access_token
        )
        assert.deepStrictEqual(
          { sid: after.sid, auth_time: after.auth_time, org_id: after.org_id, gen: after.gen },
          { sid: before.sid, auth_time: before.auth_time, org_id: id, gen: before.gen + 1 }
        )
      })
    )
  )

  it.effect("refuses foreign, unknown and malformed organizations alike, and changes nothing", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const stranger = yield* signIn("eve")
        const { access_token, organization } = yield* signIn("ada")
        const caller = yield* sessionCallerOf(access_token)
        for (const org of [stranger.organization.id, "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10", "nonsense", ""])
          assert.strictEqual(yield* tagOf(sessions.switchOrg(caller, org)), "NotAMember")
        assert.strictEqual((yield* sessions.refresh(access_token)).organization.id, organization.id)
      })
    )
  )
})

describe("The end of a session", () => {
  it.effect("logging out ends it for every token of it, and takes an expired one", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token: old } = yield* signIn("ada")
        const { access_token: present } = yield* sessions.refresh(old)
        yield* TestClock.adjust("1 hour")
        yield* sessions.logout(old)
        for (const token of [old, present]) {
          assert.strictEqual(yield* tagOf(sessions.refresh(token)), "SignInRequired")
          assert.strictEqual(yield* tagOf(callerOf(token)), "SignInRequired")
          assert.strictEqual(yield* tagOf(sessions.logout(token)), "SignInRequired")
        }
      })
    )
  )

  it.effect("leaves other sessions of the person alone", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const [here, there] = [yield* signIn("ada"), yield* signIn("ada")]
        yield* sessions.logout(here.access_token)
        yield* callerOf(there.access_token)
        assert.strictEqual((yield* sessions.list(there.user.id)).length, 1)
      })
    )
  )

  it.effect("lists the living ones, newest first, and lets their person end one", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const first = yield* signIn("ada")
        yield* TestClock.adjust("1 minute")
        const second = yield* signIn("ada")
        const ids = yield* Effect.forEach([second, first], ({ access_token }) =>
          Effect.map(claimsOf(access_token), ({ sid }) => sid)
        )
        const listed = yield* sessions.list(first.user.id)
        assert.deepStrictEqual(
          listed.map(({ id }) => id),
          ids
        )
        assert.deepStrictEqual(
          listed.map(({ address, provider, user_agent }) => ({ address, provider, user_agent })),
          [0, 1].map(() => ({ ...device, provider: "test" }))
        )
        const eve = yield* signIn("eve")
        for (const id of ids) assert.strictEqual(yield* tagOf(sessions.end(eve.user.id, id)), "NotFound")
        for (const id of ids) yield* sessions.end(first.user.id, id)
        for (const id of ids) assert.strictEqual(yield* tagOf(sessions.end(first.user.id, id)), "NotFound")
        assert.strictEqual(yield* tagOf(callerOf(second.access_token)), "SignInRequired")
        yield* TestClock.adjust("12 hours")
        assert.deepStrictEqual(yield* sessions.list(eve.user.id), [])
      })
    )
  )

  it.effect("is told to the streams in the transaction that makes it", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token } = yield* signIn("ada")
        yield* sessions.logout(access_token)
        const { sid } = yield* claimsOf(access_token)
        const told = (yield* logged).filter((event) => event.data["session_id"] === sid)
        assert.strictEqual(told.length, 1)
        assert.isTrue(told[0]?.internal)
      })
    )
  )
})

describe("A disabled account", () => {
  it.effect("is refused everywhere like a token that is not valid, and comes back when it is enabled", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const operator = yield* OperatorAccounts
        const { access_token, user } = yield* signIn("ada")
        yield* operator.disable(user.id)
        assert.strictEqual(yield* tagOf(callerOf(access_token)), "InvalidCredential")
        assert.strictEqual(yield* tagOf(sessions.refresh(access_token)), "InvalidCredential")
        assert.strictEqual(yield* tagOf(sessions.logout(access_token)), "InvalidCredential")
        assert.strictEqual(yield* tagOf(signIn("ada")), "InvalidIdToken")
        yield* operator.enable(user.id)
        yield* callerOf(access_token)
      })
    )
  )
})

describe("An id token", () => {
  it.effect("may be exchanged again while its sessions live", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const token = yield* idTokenOf({ subject: "ada" })
        const [a, b] = [yield* sessions.exchange(token, device), yield* sessions.exchange(token, device)]
        assert.notStrictEqual((yield* claimsOf(a.access_token)).sid, (yield* claimsOf(b.access_token)).sid)
        assert.strictEqual(a.user.id, b.user.id)
      })
    )
  )

  it.effect("begins one session when replay is rejected, of many exchanges at once too", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const token = yield* idTokenOf({ subject: "ada" })
        const tries = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => Effect.option(sessions.exchange(token, device)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(tries.filter(Option.isSome).length, 1)
        assert.strictEqual(yield* tagOf(sessions.exchange(token, device)), "InvalidIdToken")
      }).pipe(under({ id_token_replay: "reject" }))
    )
  )

  it.effect("of a session that was signed out or ended begins none, whatever the replay policy", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const [one, two] = [yield* idTokenOf({ subject: "ada" }), yield* idTokenOf({ subject: "ada" })]
        const a = yield* sessions.exchange(one, device)
        const b = yield* sessions.exchange(two, device)
        yield* sessions.logout(a.access_token)
        yield* sessions.end(b.user.id, (yield* claimsOf(b.access_token)).sid)
        for (const token of [one, two])
          assert.strictEqual(yield* tagOf(sessions.exchange(token, device)), "InvalidIdToken")
      })
    )
  )

  it.effect("that is refused leaves no session behind", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const token = yield* idTokenOf({ subject: "ada" })
        const { access_token, user } = yield* sessions.exchange(token, device)
        yield* sessions.logout(access_token)
        yield* Effect.flip(sessions.exchange(token, device))
        const store = yield* SessionStore
        assert.deepStrictEqual(yield* store.living(user.id, DateTime.makeUnsafe(0)), [])
      })
    )
  )
})

describe("A token that is none of ours", () => {
  it.effect("is refused everywhere", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const forged = Redacted.make("a.b.c")
        assert.strictEqual(yield* tagOf(sessions.refresh(forged)), "InvalidCredential")
        assert.strictEqual(yield* tagOf(sessions.logout(forged)), "InvalidCredential")
        assert.strictEqual(yield* tagOf(callerOf(forged)), "InvalidCredential")
      })
    )
  )

  it.effect("nor does a genuine one help whose claims are not the row's", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const signer = yield* TokenSigner
        const eve = yield* signIn("eve")
        const claims = yield* claimsOf((yield* signIn("ada")).access_token)
        for (const wrong of [{ sub: eve.user.id }, { auth_time: claims.auth_time + 1 }])
          assert.strictEqual(
            yield* tagOf(sessions.refresh(yield* signer.sign({ ...claims, ...wrong }))),
            "InvalidCredential"
          )
      })
    )
  )
})

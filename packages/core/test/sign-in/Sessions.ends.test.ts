/** Switching organizations, revoking sessions, and tokens that are refused. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { SessionStore } from "../../src/records/sessions/SessionStore.ts"
import { TokenSigner } from "../../src/records/sessions/TokenSigner.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { callerOf, device, idTokenOf, logged, sessionCallerOf, signIn, tagOf } from "../memory/core.ts"
import { claimsOf, inTest, team, under } from "./inTest.ts"

describe("Switching organizations", () => {
  it.effect("switching organizations keeps the session and its sign-in time", () =>
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

  it.effect("switching to a foreign, unknown or malformed organization fails alike and changes nothing", () =>
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
  it.effect("logging out ends the session for all its tokens, and accepts an expired token", () =>
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

  it.effect("ending a session keeps the person's other sessions", () =>
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

  it.effect("active sessions are listed newest first, and their owner may end one", () =>
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

  it.effect("the end of a session is published to the streams in the same transaction", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { access_token } = yield* signIn("ada")
        yield* sessions.logout(access_token)
        const { sid } = yield* claimsOf(access_token)
        const published = (yield* logged).filter((event) => event.data["session_id"] === sid)
        assert.strictEqual(published.length, 1)
        assert.isTrue(published[0]?.internal)
      })
    )
  )
})

describe("A disabled account", () => {
  it.effect("tokens of a disabled account are refused like invalid ones, and work again once it is enabled", () =>
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
  it.effect("an id token may be exchanged again while its sessions are active", () =>
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

  it.effect("an id token starts one session when replay is rejected, also with simultaneous exchanges", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const token = yield* idTokenOf({ subject: "ada" })
        const attempts = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => Effect.option(sessions.exchange(token, device)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(attempts.filter(Option.isSome).length, 1)
        assert.strictEqual(yield* tagOf(sessions.exchange(token, device)), "InvalidIdToken")
      }).pipe(under({ id_token_replay: "reject" }))
    )
  )

  it.effect("the id token of an ended session starts no other, even when replay is allowed", () =>
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

  it.effect("a refused id token creates no session", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const token = yield* idTokenOf({ subject: "ada" })
        const { access_token, user } = yield* sessions.exchange(token, device)
        yield* sessions.logout(access_token)
        yield* Effect.flip(sessions.exchange(token, device))
        const store = yield* SessionStore
        assert.deepStrictEqual(yield* store.active(user.id, DateTime.makeUnsafe(0), 10), [])
      })
    )
  )
})

describe("A token that was not issued here", () => {
  it.effect("a token that was not issued here is refused by every call", () =>
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

  it.effect("a signed token whose claims differ from the stored session is refused", () =>
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

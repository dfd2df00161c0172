/** Sessions that belong to sessions of the host's own (docs/design/identity.md I53, I54). */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import type { UserId } from "../../src/Ids.ts"
import { SessionStore } from "../../src/records/sessions/SessionStore.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { callerOf, device, logged, signIn, tagOf } from "../memory/core.ts"
import { claimsOf, inTest, under } from "./inTest.ts"

const personOf = (name: string) => Effect.map(signIn(name), ({ user }) => user)

/** The person's sessions that the host began. */
const begun = (user: UserId) =>
  Effect.map(
    Sessions.use(({ list }) => list(user)),
    (list) => list.filter(({ provider }) => provider === "host")
  )

/** Purges as at a later time, without moving the clock. */
const purgedAfter = (time: Duration.Input) =>
  Effect.gen(function* () {
    const now = yield* DateTime.now
    yield* (yield* SessionStore).purge(DateTime.addDuration(now, time), now)
  })

const own = "the host's session 1"

describe("a session of the host's own", () => {
  it.effect("starts with the same id find one session, which is the person's alone", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const [ada, bob] = [yield* personOf("ada"), yield* personOf("bob")]
        const sid = (of: typeof ada, id: string | null) =>
          Effect.flatMap(sessions.start(of.id, device, id), ({ access_token }) =>
            Effect.map(claimsOf(access_token), (claims) => claims.sid)
          )
        const first = yield* sid(ada, own)
        assert.deepStrictEqual(yield* Effect.all([sid(ada, own), sid(ada, own)], { concurrency: 2 }), [first, first])
        const others = [yield* sid(ada, "2"), yield* sid(bob, own), yield* sid(ada, null), yield* sid(ada, null)]
        assert.strictEqual(new Set([first, ...others]).size, 5)
        assert.lengthOf(yield* begun(ada.id), 4)
      })
    )
  )

  it.effect("the end of a host's session refuses every token and every later start with its id, and is an event", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const ada = yield* personOf("ada")
        const { access_token } = yield* sessions.start(ada.id, device, own)
        const { sid } = yield* claimsOf(access_token)
        yield* sessions.endOwn(ada.id, own)
        yield* sessions.endOwn(ada.id, own)
        assert.strictEqual(yield* tagOf(callerOf(access_token)), "SignInRequired")
        assert.strictEqual(yield* tagOf(sessions.start(ada.id, device, own)), "SignInRequired")
        assert.lengthOf(
          (yield* logged).filter((event) => event.data["session_id"] === sid),
          1
        )
        yield* purgedAfter("30 days")
        assert.strictEqual(yield* tagOf(sessions.start(ada.id, device, own)), "SignInRequired")
        // A sign-out may be faster than the first request of its session.
        yield* sessions.endOwn(ada.id, "2")
        assert.strictEqual(yield* tagOf(sessions.start(ada.id, device, "2")), "SignInRequired")
        assert.lengthOf(yield* begun(ada.id), 0)
      })
    )
  )

  it.effect("a person who signs out here is not signed in again by the host's session", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const ada = yield* personOf("ada")
        yield* sessions.logout((yield* sessions.start(ada.id, device, own)).access_token)
        yield* purgedAfter("30 days")
        assert.strictEqual(yield* tagOf(sessions.start(ada.id, device, own)), "SignInRequired")
      })
    )
  )

  it.effect("a start after the window renews the session, and no old token is valid again", () =>
    inTest(
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const ada = yield* personOf("ada")
        const { access_token: old } = yield* sessions.start(ada.id, device, own)
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(yield* tagOf(sessions.refresh(old)), "SignInRequired")
        const { access_token } = yield* sessions.start(ada.id, device, own)
        assert.strictEqual((yield* claimsOf(access_token)).sid, (yield* claimsOf(old)).sid)
        yield* callerOf(access_token)
        assert.strictEqual(yield* tagOf(sessions.refresh(old)), "InvalidCredential")
      }).pipe(under({ window: Duration.minutes(10) }))
    )
  )
})

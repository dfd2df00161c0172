/** The contract of `SessionStore`. Run it against every adapter. */
import { Effect, Option } from "effect"
import { Session } from "../../src/records/sessions/Session.ts"
import { SessionStore } from "../../src/records/sessions/SessionStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aSession, aText, at, aUserId } from "../records.ts"
import { atOnce, inTransactionsAtOnce, undone } from "../together.ts"

export const sessionStoreContract = contract<SessionStore | Transaction>("SessionStore", (it) => {
  it("a session is stored as it was inserted and updated", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const session = aSession(aUserId(), { user_agent: 'Mozilla/5.0 "é"' })
      yield* store.insert(session)
      assert.deepStrictEqual(yield* store.lock(session.id), Option.some(session))
      const ended = new Session({ ...session, revoked_at: at(5), revoked_reason: "signed_out", address: null })
      yield* store.update(ended)
      assert.deepStrictEqual(yield* store.lock(session.id), Option.some(ended))
      assert.isTrue(Option.isNone(yield* store.lock(aSession(aUserId()).id)))
    }))

  it("refreshes of one session run one after another", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const session = aSession(aUserId())
      yield* store.insert(session)
      yield* inTransactionsAtOnce(8, () =>
        Effect.gen(function* () {
          const found = yield* Effect.fromOption(yield* store.lock(session.id))
          yield* store.update(new Session({ ...found, generation: found.generation + 1 }))
        })
      )
      assert.deepStrictEqual(
        Option.map(yield* store.lock(session.id), (it) => it.generation),
        Option.some(8)
      )
    }))

  it("a person's active sessions are listed newest first", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const user = aUserId()
      const [older, newer] = [aSession(user, { signed_in_at: at(11) }), aSession(user, { signed_in_at: at(11) })]
      const gone = [
        aSession(user, { signed_in_at: at(10) }),
        aSession(user, { signed_in_at: at(11), revoked_at: at(12), revoked_reason: "reused" }),
        aSession(aUserId(), { signed_in_at: at(11) })
      ]
      for (const session of [newer, ...gone, older]) yield* store.insert(session)
      assert.deepStrictEqual(yield* store.active(user, at(10), 10), [newer, older])
      assert.deepStrictEqual(yield* store.active(user, at(10), 1), [newer])
    }))

  it("the newest session that an id token or a host's session began is found, until it is revoked", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const [user, id_token_digest] = [aUserId(), aText("digest")]
      assert.isTrue(Option.isNone(yield* store.begunBy(id_token_digest)))
      const [older, newer] = [aSession(user, { id_token_digest }), aSession(user, { id_token_digest })].toSorted(
        (a, b) => (a.id < b.id ? -1 : 1)
      )
      if (older === undefined || newer === undefined) return
      for (const session of [newer, older, aSession(user)]) yield* store.insert(session)
      assert.deepStrictEqual(yield* store.begunBy(id_token_digest), Option.some(newer))
      yield* store.update(new Session({ ...newer, revoked_at: at(5), revoked_reason: "signed_out" }))
      assert.deepStrictEqual(yield* store.begunBy(id_token_digest), Option.some(older))
      yield* store.update(new Session({ ...older, revoked_at: at(5), revoked_reason: "ended_by_owner" }))
      assert.isTrue(Option.isNone(yield* store.begunBy(id_token_digest)))
    }))

  it("an id token is spent once", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const digest = aText("digest")
      assert.isFalse(yield* store.isSpent(digest))
      const spent = yield* atOnce(8, () => store.spend(digest, at(1000)))
      assert.strictEqual(spent.filter((it) => it).length, 1)
      assert.isTrue(yield* store.isSpent(digest))
    }))

  it("a spent token is retained until its latest expiry", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const digest = aText("digest")
      yield* store.spend(digest, at(100))
      yield* store.spend(digest, at(50))
      yield* store.purge(at(100), at(-1000))
      assert.isTrue(yield* store.isSpent(digest))
      yield* store.purge(at(101), at(-1000))
      assert.isFalse(yield* store.isSpent(digest))
    }))

  it("sessions from before an instant are purged", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const [old, young] = [
        aSession(aUserId(), { signed_in_at: at(-501) }),
        aSession(aUserId(), { signed_in_at: at(-500) })
      ]
      yield* store.insert(old)
      yield* store.insert(young)
      yield* store.purge(at(-1000), at(-500))
      assert.isTrue(Option.isNone(yield* store.lock(old.id)))
      assert.isTrue(Option.isSome(yield* store.lock(young.id)))
    }))

  it("writes to sessions are undone with their transaction", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const session = aSession(aUserId())
      const digest = aText("digest")
      yield* undone(Effect.andThen(store.insert(session), store.spend(digest, at(1))))
      assert.isTrue(Option.isNone(yield* store.lock(session.id)))
      assert.isFalse(yield* store.isSpent(digest))
    }))
})

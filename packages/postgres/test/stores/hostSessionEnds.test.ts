/** Holds docs/design/identity.md I54 while an earlier release runs beside this one. */
import { assert, layer } from "@effect/vitest"
import { Session, SessionStore } from "@narthex/core"
import { aSession, at, aUserId } from "@narthex/core/testing"
import { Effect } from "effect"
import { onPostgres } from "./onPostgres.ts"

const day = 86_400

/** Ends a session as an earlier release does, in either order: revokes the row, and keeps its digest for a day. */
const ended = Effect.fnUntraced(function* (session: Session, spentFirst: boolean) {
  const store = yield* SessionStore
  yield* store.insert(session)
  const spend = store.spend(session.id_token_digest, at(day))
  const revoke = store.update(new Session({ ...session, revoked_at: at(0), revoked_reason: "signed_out" }))
  yield* spentFirst ? Effect.andThen(spend, revoke) : Effect.andThen(revoke, spend)
})

layer(onPostgres, { excludeTestServices: true })("a session that an earlier release ends", (it) => {
  it.effect("keeps the id of a host's own session for 400 days, and nothing else for longer than a day", () =>
    Effect.gen(function* () {
      const store = yield* SessionStore
      const own = ["host one", "host two"].map((id_token_digest) =>
        aSession(aUserId(), { provider: "host", id_token_digest })
      )
      const bare = aSession(aUserId(), { provider: "host" })
      const plain = new Session({ ...bare, id_token_digest: `host ${bare.id}` })
      const signedIn = aSession(aUserId(), { provider: "google", id_token_digest: "host of no one" })
      for (const [n, session] of [...own, plain, signedIn].entries()) yield* ended(session, n === 0)
      const spent = Effect.forEach([...own, plain, signedIn], ({ id_token_digest }) => store.isSpent(id_token_digest))
      yield* store.purge(at(2 * day), at(2 * day))
      assert.deepStrictEqual(yield* spent, [true, true, false, false])
      yield* store.purge(at(399 * day), at(399 * day))
      assert.deepStrictEqual(yield* spent, [true, true, false, false])
      yield* store.purge(at(401 * day), at(401 * day))
      assert.deepStrictEqual(yield* spent, [false, false, false, false])
    })
  )
})

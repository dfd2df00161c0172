/** `SessionStore` on Postgres. */
import { Session, SessionStore } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { tableOf } from "../database/tableOf.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const sessions = tableOf(database, "session", Session)

  return SessionStore.of({
    insert: (session) =>
      Effect.asVoid(sessions.write("SessionStore.insert", session, `${sessions.insertInto} ${sessions.record("$1")}`)),
    lock: (session) =>
      sessions.first("SessionStore.lock", "select * from narthex.session where id = $1 for update", [session]),
    begunBy: (digest) =>
      sessions.first(
        "SessionStore.begunBy",
        "select * from narthex.session where id_token_digest = $1 and revoked_at is null order by id desc limit 1",
        [digest]
      ),
    update: (session) =>
      Effect.asVoid(
        sessions.write("SessionStore.update", session, `update narthex.session ${sessions.setTo("$1")} where id = $2`, [
          session.id
        ])
      ),
    active: (user, since, limit) =>
      sessions.all(
        "SessionStore.active",
        `select * from narthex.session where user_id = $1 and revoked_at is null and signed_in_at > $2
         order by id desc limit $3`,
        [user, DateTime.toDateUtc(since), limit]
      ),
    spend: (digest, expiresAt) =>
      Effect.map(
        database.query<{ readonly first: boolean }>(
          "SessionStore.spend",
          `insert into narthex.spent_id_token as spent (digest, expires_at) values ($1, $2)
           on conflict (digest) do update set expires_at = greatest(spent.expires_at, excluded.expires_at)
           returning xmax = 0 as first`, // xmax is 0 in an inserted row and not in an updated one
          [digest, DateTime.toDateUtc(expiresAt)]
        ),
        (rows) => rows[0]?.first === true
      ),
    isSpent: (digest) =>
      Effect.map(
        database.query("SessionStore.isSpent", "select 1 from narthex.spent_id_token where digest = $1", [digest]),
        (rows) => rows.length > 0
      ),
    purge: (now, since) =>
      Effect.asVoid(
        database.query(
          "SessionStore.purge",
          `with forgotten as (delete from narthex.spent_id_token where expires_at < $1)
           delete from narthex.session where signed_in_at < $2`,
          [DateTime.toDateUtc(now), DateTime.toDateUtc(since)]
        )
      )
  })
})

export const PostgresSessionStore = {
  layer: Layer.effect(SessionStore, make)
}

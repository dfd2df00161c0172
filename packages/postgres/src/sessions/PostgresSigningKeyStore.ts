/** `SigningKeyStore` on Postgres. One lock serializes changes, so that two instances cannot both add a first key. */
import { SigningKeyStore } from "@narthex/core"
import { DateTime, Effect, Layer, Schema } from "effect"
import { Database } from "../database/Database.ts"
import { exclusively } from "../database/exclusively.ts"
import { tableOf } from "../database/tableOf.ts"

const StoredKey = Schema.Struct({
  kid: Schema.String,
  public_jwk: Schema.String,
  wrapped_private: Schema.String,
  created_at: Schema.DateTimeUtcFromString,
  active_from: Schema.DateTimeUtcFromString,
  retired_until: Schema.NullOr(Schema.DateTimeUtcFromString)
})

const lockName = "signing_key"

const make = Effect.gen(function* () {
  const database = yield* Database
  const keys = tableOf(database, "signing_key", StoredKey)

  return SigningKeyStore.of({
    published: (now) =>
      keys.all(
        "SigningKeyStore.published",
        `select * from narthex.signing_key where retired_until is null or retired_until > $1 order by created_at desc, kid`,
        [DateTime.toDateUtc(now)]
      ),
    addFirst: (key) =>
      exclusively(
        database,
        lockName,
        Effect.map(
          keys.write(
            "SigningKeyStore.addFirst",
            key,
            `${keys.insertInto} ${keys.record("$1")} where not exists (select 1 from narthex.signing_key) returning kid`
          ),
          (rows) => rows.length > 0
        )
      ),
    rotate: (key, retireAt) =>
      exclusively(
        database,
        lockName,
        Effect.andThen(
          database.query(
            "SigningKeyStore.rotate",
            "update narthex.signing_key set retired_until = $1 where retired_until is null",
            [DateTime.toDateUtc(retireAt)]
          ),
          Effect.asVoid(keys.write("SigningKeyStore.rotate", key, `${keys.insertInto} ${keys.record("$1")}`))
        )
      )
  })
})

export const PostgresSigningKeyStore = {
  layer: Layer.effect(SigningKeyStore, make)
}

/** `CliGrantStore` on Postgres. */
import { CliGrant, CliGrantStore, maxWrongVerifiers } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { tableOf } from "../database/tableOf.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const grants = tableOf(database, "cli_grant", CliGrant)

  return CliGrantStore.of({
    insert: (grant) =>
      Effect.map(
        grants.write(
          "CliGrantStore.insert",
          grant,
          `${grants.insertInto} ${grants.record("$1")} on conflict (state_digest) do nothing returning code_digest`
        ),
        (rows) => rows.length > 0
      ),
    find: (codeDigest) =>
      grants.first("CliGrantStore.find", "select * from narthex.cli_grant where code_digest = $1", [codeDigest]),
    consume: (codeDigest, now) =>
      grants.first(
        "CliGrantStore.consume",
        `update narthex.cli_grant set consumed_at = $2
         where code_digest = $1 and consumed_at is null and expires_at > $2 and wrong_verifiers < $3
         returning *`,
        [codeDigest, DateTime.toDateUtc(now), maxWrongVerifiers]
      ),
    noteWrongVerifier: (codeDigest) =>
      Effect.asVoid(
        database.query(
          "CliGrantStore.noteWrongVerifier",
          "update narthex.cli_grant set wrong_verifiers = wrong_verifiers + 1 where code_digest = $1",
          [codeDigest]
        )
      ),
    purge: (before) =>
      Effect.asVoid(
        database.query("CliGrantStore.purge", "delete from narthex.cli_grant where expires_at < $1", [
          DateTime.toDateUtc(before)
        ])
      )
  })
})

export const PostgresCliGrantStore = {
  layer: Layer.effect(CliGrantStore, make)
}

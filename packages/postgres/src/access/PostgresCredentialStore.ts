/**
 * `CredentialStore` on Postgres. It runs on every request, so each method is one statement over primary keys, whose
 * cost does not grow with the number of keys.
 *
 * Pitfall: joining the membership through the user's row. The plan then reads every member of the organization. Both
 * halves of its primary key must come from the row of the credential.
 */
import { ApiKey, CredentialStore, Organization, Session, User, UserProfile } from "@narthex/core"
import { Effect, Layer, Option, Schema } from "effect"
import { Database } from "../database/Database.ts"
import { reading } from "../database/tableOf.ts"
import { keyColumns, keyRowFields, storedKeyOf } from "../keys/storedApiKey.ts"

const standing = {
  standing_user: User,
  standing_organization: Schema.NullOr(Organization),
  standing_role: Schema.NullOr(Schema.String),
  standing_invited_by: Schema.NullOr(UserProfile)
}

interface StandingRow {
  readonly standing_user: User
  readonly standing_organization: Organization | null
  readonly standing_role: string | null
  readonly standing_invited_by: UserProfile | null
}

const standingOf = (row: StandingRow) => ({
  user: row.standing_user,
  organization: row.standing_organization,
  role: row.standing_role,
  invited_by: row.standing_invited_by
})

const standingColumns = `to_jsonb(u) as standing_user, to_jsonb(o) as standing_organization, m.role as standing_role,
  m.invited_by as standing_invited_by`

const KeyStandingRow = Schema.Struct({ ...keyRowFields, ...standing })
const SessionStandingRow = Schema.Struct({ session: Session, ...standing })

const HeldRow = Schema.Struct({
  held_user: User,
  held_role: Schema.String,
  held_key: Schema.NullOr(ApiKey)
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const keys = reading(database, KeyStandingRow, { pipeline: "keys", under: "key" })
  const sessions = reading(database, SessionStandingRow, { pipeline: "sessions", under: "session" })
  const held = reading(database, HeldRow)

  return CredentialStore.of({
    // Pitfall: `= any` for one digest. Its cost is estimated for ten, so a small store gets a scan of the whole table.
    byKeyDigest: (digests) =>
      Effect.map(
        keys.first(
          "CredentialStore.byKeyDigest",
          `select ${keyColumns}, ${standingColumns}
           from narthex.api_key_secret s
           join narthex.api_key k on k.id = s.key_id
           join narthex.user_account u on u.id = k.creator_id
           left join narthex.organization o on o.id = k.org_id
           left join narthex.membership m on m.org_id = k.org_id and m.user_id = k.creator_id
           where s.digest ${digests.length === 1 ? "= $1" : "= any ($1)"} limit 1`,
          [digests.length === 1 ? digests[0] : digests]
        ),
        Option.map((row) => ({ ...standingOf(row), key: storedKeyOf(row) }))
      ),
    bySession: (session, org) =>
      Effect.map(
        sessions.first(
          "CredentialStore.bySession",
          `select s.*, ${standingColumns}
           from narthex.session s
           join narthex.user_account u on u.id = s.user_id
           left join narthex.organization o on o.id = $2
           left join narthex.membership m on m.org_id = $2 and m.user_id = s.user_id
           where s.id = $1`,
          [session, org]
        ),
        Option.map((row) => ({ ...standingOf(row), session: row.session }))
      ),
    hold: (org, user, key) =>
      Effect.map(
        held.first(
          "CredentialStore.hold",
          key === null
            ? `select to_jsonb(u) as held_user, m.role as held_role, null as held_key
               from narthex.user_account u join narthex.membership m on m.org_id = $2 and m.user_id = u.id
               where u.id = $1 for share of u, m`
            : `select to_jsonb(u) as held_user, m.role as held_role, to_jsonb(k) as held_key
               from narthex.user_account u
               join narthex.membership m on m.org_id = $2 and m.user_id = u.id
               join narthex.api_key k on k.id = $3 and k.org_id = $2
               where u.id = $1 for share of u, m, k`,
          key === null ? [user, org] : [user, org, key]
        ),
        Option.map((row) => ({ user: row.held_user, role: row.held_role, key: row.held_key }))
      )
  })
})

export const PostgresCredentialStore = {
  layer: Layer.effect(CredentialStore, make)
}

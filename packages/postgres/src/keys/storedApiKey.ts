/** The row of a key with its secrets aggregated into one column, and the SQL that aggregates them. */
import { ApiKey, KeyEnd, OrgId, type StoredApiKey } from "@narthex/core"
import { Schema } from "effect"

const Secret = Schema.Struct({
  digest: Schema.String,
  pepper_id: Schema.String,
  dies_at: Schema.NullOr(Schema.DateTimeUtcFromString)
})

/** The columns of `api_key` that are written; the others are generated. */
export const KeyRecord = Schema.Struct({
  ...ApiKey.fields,
  org_id: OrgId,
  revoked_reason: Schema.NullOr(KeyEnd)
})

/** The fields of a row that is read with `under: "key"`: the columns of the key are those of its model. */
export const keyRowFields = {
  key: ApiKey,
  org_id: OrgId,
  revoked_reason: Schema.NullOr(KeyEnd),
  secrets: Schema.Array(Secret)
}

export const KeyRow = Schema.Struct(keyRowFields)

/** The columns of `KeyRow`, for a statement that names the table `api_key k`. */
export const keyColumns = `k.*, (
  select coalesce(jsonb_agg(to_jsonb(secret) order by secret.position), '[]')
  from narthex.api_key_secret secret where secret.key_id = k.id) as secrets`

export const storedKeyOf = ({ key, org_id, revoked_reason, secrets }: typeof KeyRow.Type): StoredApiKey => ({
  key,
  org_id,
  revoked_reason,
  secrets
})

/** A key as its row has it, with its secrets gathered in one column, and the SQL that gathers them. */
import { ApiKey, KeyEnd, OrgId, type StoredApiKey } from "@narthex/core"
import { Schema } from "effect"

const Secret = Schema.Struct({
  digest: Schema.String,
  pepper_id: Schema.String,
  dies_at: Schema.NullOr(Schema.DateTimeUtcFromString)
})

/** The columns of `api_key` that are ours to write. */
export const KeyRecord = Schema.Struct({
  ...ApiKey.fields,
  org_id: OrgId,
  revoked_reason: Schema.NullOr(KeyEnd)
})

export const keyRowFields = { ...KeyRecord.fields, secrets: Schema.Array(Secret) }

export const KeyRow = Schema.Struct(keyRowFields)

/** Of `api_key k`. */
export const keyColumns = `k.*, (
  select coalesce(jsonb_agg(to_jsonb(secret) order by secret.position), '[]')
  from api_key_secret secret where secret.key_id = k.id) as secrets`

export const storedKeyOf = ({ org_id, revoked_reason, secrets, ...key }: typeof KeyRow.Type): StoredApiKey => ({
  key: new ApiKey(key),
  org_id,
  revoked_reason,
  secrets
})

/**
 * `ApiKeyStore` on Postgres. Secrets are in their own table; authentication looks them up by its primary key, the
 * digest.
 */
import { ApiKey, type ApiKeyId, ApiKeyStore, type KeysToEnd, pageOf, type StoredSecret } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { olderThan } from "../database/keyset.ts"
import { json, reading, tableOf } from "../database/tableOf.ts"
import { KeyRecord, KeyRow, keyColumns } from "./storedApiKey.ts"

/** Inserts the secrets of a key from the JSON array in a parameter. */
const secretsFrom = (parameter: string, key: string) =>
  `insert into narthex.api_key_secret (digest, key_id, position, pepper_id, dies_at)
   select it.digest, ${key}, it.position, it.pepper_id, it.dies_at
   from rows from (jsonb_to_recordset(${parameter}) as (digest text, pepper_id text, dies_at timestamptz))
     with ordinality as it(digest, pepper_id, dies_at, position)`

const secretRecords = (secrets: ReadonlyArray<StoredSecret>) =>
  json(
    secrets.map(({ dies_at, ...secret }) => ({
      ...secret,
      dies_at: dies_at === null ? null : DateTime.formatIso(dies_at)
    }))
  )

/** The condition on `api_key` that selects the keys, with its parameters `$1…`. */
const conditionOf = (which: KeysToEnd): readonly [condition: string, params: ReadonlyArray<string>] => {
  if ("branch_id" in which) return ["scope_branch = $1", [which.branch_id]]
  if ("project_id" in which) return ["scope_project = $1", [which.project_id]]
  return "user_id" in which
    ? ["org_id = $1 and creator_id = $2", [which.org_id, which.user_id]]
    : ["org_id = $1", [which.org_id]]
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const records = tableOf(database, "api_key", KeyRecord)
  const keys = reading(database, ApiKey)
  const rows = reading(database, KeyRow, { under: "key" })
  const stored = (operation: string, rest: string, params: ReadonlyArray<unknown>) =>
    rows.first(operation, `select ${keyColumns} from ${rest}`, params)

  return ApiKeyStore.of({
    insert: ({ key, org_id, revoked_reason, secrets }) =>
      Effect.asVoid(
        records.write(
          "ApiKeyStore.insert",
          { ...key, org_id, revoked_reason },
          `with made as (${records.insertInto} ${records.record("$1")} returning id) ${secretsFrom("$2", "made.id")}, made`,
          [secretRecords(secrets)]
        )
      ),
    find: (org, key) => stored("ApiKeyStore.find", "narthex.api_key k where k.id = $1 and k.org_id = $2", [key, org]),
    lock: (org, key) =>
      stored("ApiKeyStore.lock", "narthex.api_key k where k.id = $1 and k.org_id = $2 for update of k", [key, org]),
    findByDigest: (digests) =>
      stored(
        "ApiKeyStore.findByDigest",
        "narthex.api_key_secret s join narthex.api_key k on k.id = s.key_id where s.digest = any ($1) limit 1",
        [digests]
      ),
    putSecrets: (key, hint, secrets) =>
      database.transaction(
        Effect.gen(function* () {
          const found = yield* database.query(
            "ApiKeyStore.putSecrets",
            "update narthex.api_key set hint = $2 where id = $1 returning id",
            [key, hint]
          )
          if (found.length === 0) return
          yield* database.query("ApiKeyStore.putSecrets", "delete from narthex.api_key_secret where key_id = $1", [key])
          yield* database.query("ApiKeyStore.putSecrets", secretsFrom("$1", "$2"), [secretRecords(secrets), key])
        })
      ),
    list: (org, creator, expiredSince, page) =>
      Effect.map(
        keys.all(
          "ApiKeyStore.list",
          `select * from narthex.api_key
           where org_id = $1 and revoked_at is null and (expires_at is null or expires_at > $2) and id < $3
             ${creator === null ? "" : "and creator_id = $5"}
           order by id desc limit $4`,
          [
            org,
            DateTime.toDateUtc(expiredSince),
            olderThan(page),
            page.limit + 1,
            ...(creator === null ? [] : [creator])
          ]
        ),
        (rows) => pageOf(rows, page)
      ),
    countLive: (org, creator, now) =>
      Effect.map(
        database.query<{ readonly n: number }>(
          "ApiKeyStore.countLive",
          `select count(*) as n from narthex.api_key
           where org_id = $1 and creator_id = $2 and revoked_at is null and (expires_at is null or expires_at > $3)`,
          [org, creator, DateTime.toDateUtc(now)]
        ),
        (found) => found[0]?.n ?? 0
      ),
    revoke: (org, key, reason, now) =>
      Effect.map(
        database.query(
          "ApiKeyStore.revoke",
          `update narthex.api_key set revoked_at = $3, revoked_reason = $4
           where id = $1 and org_id = $2 and revoked_at is null returning id`,
          [key, org, DateTime.toDateUtc(now), reason]
        ),
        (ended) => ended.length > 0
      ),
    revokeAll: (which, reason, now) => {
      const [condition, params] = conditionOf(which)
      const [at, why] = [`$${params.length + 1}`, `$${params.length + 2}`]
      return Effect.map(
        database.query<{ readonly id: ApiKeyId }>(
          "ApiKeyStore.revokeAll",
          `update narthex.api_key set revoked_at = ${at}, revoked_reason = ${why}
           where id in (select id from narthex.api_key where ${condition} and revoked_at is null order by id for update)
           returning id`,
          [...params, DateTime.toDateUtc(now), reason]
        ),
        (ended) => ended.map(({ id }) => id)
      )
    },
    touch: (uses) =>
      Effect.asVoid(
        database.query(
          "ApiKeyStore.touch",
          // Rows are locked in one order: two instances that flush at once would otherwise deadlock.
          `with newest as (
             select distinct on (id) id, at, "from"
             from jsonb_to_recordset($1) as use(id text, at timestamptz, "from" text) order by id, at desc
           ), held as (
             select k.id, newest.at, newest."from" from narthex.api_key k join newest on newest.id = k.id
             where k.last_used_at is null or k.last_used_at < newest.at order by k.id for update of k
           )
           update narthex.api_key k set last_used_at = held.at, last_used_from = held."from" from held where k.id = held.id`,
          [json(uses.map((use) => ({ ...use, at: DateTime.formatIso(use.at) })))]
        )
      )
  })
})

export const PostgresApiKeyStore = {
  layer: Layer.effect(ApiKeyStore, make)
}

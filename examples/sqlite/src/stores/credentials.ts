/** API keys, sessions, signing keys, grants of command-line logins, and what a credential stands for. */
import {
  ApiKey,
  ApiKeyId,
  ApiKeyStore,
  CliGrant,
  CliGrantStore,
  CredentialStore,
  KeyEnd,
  type KeysToEnd,
  OrgId,
  pageOf,
  Session,
  SessionStore,
  type SigningKey,
  SigningKeyStore,
  type StoredApiKey,
  type UserId
} from "@narthex/core"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { documents } from "../documents.ts"
import { Sqlite, type Value } from "../Sqlite.ts"

const Instant = Schema.DateTimeUtcFromString

const Key = Schema.Struct({
  id: ApiKeyId,
  org_id: OrgId,
  key: ApiKey,
  revoked_reason: Schema.NullOr(KeyEnd),
  secrets: Schema.Array(
    Schema.Struct({ digest: Schema.String, pepper_id: Schema.String, dies_at: Schema.NullOr(Instant) })
  )
})

/** Which keys these are, as a condition with its value. */
const matching = (which: KeysToEnd): readonly [condition: string, ...values: ReadonlyArray<Value>] => {
  if ("branch_id" in which) return ["doc ->> '$.key.scope.branch_id' = ?1", which.branch_id]
  if ("project_id" in which) return ["doc ->> '$.key.scope.project_id' = ?1", which.project_id]
  return "user_id" in which
    ? ["doc ->> 'org_id' = ?1 and doc ->> '$.key.created_by.id' = ?2", which.org_id, which.user_id]
    : ["doc ->> 'org_id' = ?1", which.org_id]
}

const apiKeys = Effect.gen(function* () {
  const { query, run, transaction } = yield* Sqlite
  const keys = yield* documents("api_key", Key)
  const stored = ({ id: _, ...row }: typeof Key.Type): StoredApiKey => row
  const find = (org: OrgId, id: ApiKeyId) =>
    Effect.map(keys.one("id = ?1 and doc ->> 'org_id' = ?2", id, org), Option.map(stored))
  const putSecrets = Effect.fnUntraced(function* (id: ApiKeyId, secrets: StoredApiKey["secrets"]) {
    yield* run("delete from api_key_secret where key_id = ?1", id)
    for (const { digest } of secrets)
      yield* run("insert into api_key_secret (digest, key_id) values (?1, ?2)", digest, id)
  })
  const end = (row: typeof Key.Type, reason: KeyEnd, now: DateTime.Utc) =>
    keys.put(row.id, { ...row, key: new ApiKey({ ...row.key, revoked_at: now }), revoked_reason: reason })
  const live = "doc ->> '$.key.revoked_at' is null"

  return ApiKeyStore.of({
    insert: (row) =>
      transaction(
        Effect.andThen(keys.put(row.key.id, { id: row.key.id, ...row }), putSecrets(row.key.id, row.secrets))
      ),
    find,
    lock: find,
    findByDigest: (digests) =>
      Effect.map(
        keys.one(
          "id in (select key_id from api_key_secret where digest in (select value from json_each(?1)))",
          JSON.stringify(digests)
        ),
        Option.map(stored)
      ),
    putSecrets: (id, hint, secrets) =>
      transaction(
        Effect.gen(function* () {
          yield* keys.change(id, (row) => ({ ...row, key: new ApiKey({ ...row.key, hint }), secrets }))
          yield* putSecrets(id, secrets)
        })
      ),
    list: (org, creator, expiredSince, page) =>
      Effect.map(
        keys.newestFirst(
          page,
          `doc ->> 'org_id' = ?1 and ${live} and (?2 is null or doc ->> '$.key.created_by.id' = ?2)
           and ifnull(doc ->> '$.key.expires_at' > ?3, true)`,
          org,
          creator,
          DateTime.formatIso(expiredSince)
        ),
        (rows) =>
          pageOf(
            rows.map(({ key }) => key),
            page
          )
      ),
    countLive: (org: OrgId, creator: UserId, now) =>
      Effect.map(
        query(
          `select count(*) as n from api_key where doc ->> 'org_id' = ?1 and doc ->> '$.key.created_by.id' = ?2 and ${live}
           and ifnull(doc ->> '$.key.expires_at' > ?3, true)`,
          org,
          creator,
          DateTime.formatIso(now)
        ),
        ([row]) => Number(row?.["n"])
      ),
    revoke: (org, id, reason, now) =>
      transaction(
        Effect.gen(function* () {
          const [row] = yield* keys.where(`id = ?1 and doc ->> 'org_id' = ?2 and ${live}`, id, org)
          if (row !== undefined) yield* end(row, reason, now)
          return row !== undefined
        })
      ),
    revokeAll: (which, reason, now) =>
      transaction(
        Effect.gen(function* () {
          const [condition, ...values] = matching(which)
          const rows = yield* keys.where(`${condition} and ${live}`, ...values)
          for (const row of rows) yield* end(row, reason, now)
          return rows.map(({ id }) => id)
        })
      ),
    touch: (uses) =>
      transaction(
        Effect.forEach(
          uses,
          ({ at, from, id }) =>
            keys.change(id, (row) =>
              row.key.last_used_at !== null && DateTime.isGreaterThanOrEqualTo(row.key.last_used_at, at)
                ? row
                : { ...row, key: new ApiKey({ ...row.key, last_used_at: at, last_used_from: from }) }
            ),
          { discard: true }
        )
      )
  })
})

const sessions = Effect.gen(function* () {
  const { query, run, transaction } = yield* Sqlite
  const sessions = yield* documents("session", Session)
  return SessionStore.of({
    insert: (session) => sessions.put(session.id, session),
    lock: sessions.get,
    begunBy: (digest) =>
      sessions.one("doc ->> 'id_token_digest' = ?1 and doc ->> 'revoked_at' is null order by id desc", digest),
    update: (session) => sessions.put(session.id, session),
    active: (user, since, limit) =>
      sessions.where(
        `doc ->> 'user_id' = ?1 and doc ->> 'revoked_at' is null and doc ->> 'signed_in_at' > ?2
         order by id desc limit ?3`,
        user,
        DateTime.formatIso(since),
        limit
      ),
    spend: (digest, expires_at) =>
      transaction(
        Effect.gen(function* () {
          const [before] = yield* query("select 1 from spent_id_token where digest = ?1", digest)
          yield* run(
            `insert into spent_id_token (digest, expires_at) values (?1, ?2)
             on conflict (digest) do update set expires_at = max(expires_at, excluded.expires_at)`,
            digest,
            expires_at.epochMilliseconds
          )
          return before === undefined
        })
      ),
    isSpent: (digest) =>
      Effect.map(query("select 1 from spent_id_token where digest = ?1", digest), (rows) => rows.length > 0),
    purge: (now, since) =>
      transaction(
        Effect.gen(function* () {
          yield* run("delete from spent_id_token where expires_at < ?1", now.epochMilliseconds)
          yield* sessions.remove("doc ->> 'signed_in_at' < ?1", DateTime.formatIso(since))
        })
      )
  })
})

const signingKeys = Effect.gen(function* () {
  const { transaction } = yield* Sqlite
  const keys = yield* documents(
    "signing_key",
    Schema.Struct({
      kid: Schema.String,
      public_jwk: Schema.String,
      wrapped_private: Schema.String,
      created_at: Instant,
      active_from: Instant,
      retired_until: Schema.NullOr(Instant)
    })
  )
  return SigningKeyStore.of({
    published: (now) =>
      keys.where(
        "ifnull(doc ->> 'retired_until' > ?1, true) order by doc ->> 'created_at' desc",
        DateTime.formatIso(now)
      ),
    addFirst: (key) =>
      transaction(
        Effect.gen(function* () {
          if (yield* keys.exists("true")) return false
          yield* keys.put(key.kid, key)
          return true
        })
      ),
    rotate: (key: SigningKey, retired_until) =>
      transaction(
        Effect.gen(function* () {
          for (const former of yield* keys.where("doc ->> 'retired_until' is null"))
            yield* keys.put(former.kid, { ...former, retired_until })
          yield* keys.put(key.kid, key)
        })
      )
  })
})

const grants = Effect.gen(function* () {
  const { transaction } = yield* Sqlite
  const grants = yield* documents("cli_grant", CliGrant)
  return CliGrantStore.of({
    insert: (grant) =>
      transaction(
        Effect.gen(function* () {
          if (yield* grants.exists("doc ->> 'state_digest' = ?1", grant.state_digest)) return false
          yield* grants.put(grant.code_digest, grant)
          return true
        })
      ),
    find: grants.get,
    consume: (digest, now) =>
      transaction(
        Effect.gen(function* () {
          const open = Option.filter(yield* grants.get(digest), (grant) => grant.openAt(now))
          if (Option.isNone(open)) return Option.none()
          const used = new CliGrant({ ...open.value, consumed_at: now })
          yield* grants.put(digest, used)
          return Option.some(used)
        })
      ),
    noteWrongVerifier: (digest) =>
      transaction(
        grants.change(digest, (grant) => new CliGrant({ ...grant, wrong_verifiers: grant.wrong_verifiers + 1 }))
      ),
    purge: (before) => Effect.asVoid(grants.remove("doc ->> 'expires_at' < ?1", DateTime.formatIso(before)))
  })
})

/** The reference implementation reads through the other stores; a transaction makes its reads one snapshot. */
const standings = Effect.gen(function* () {
  const { transaction } = yield* Sqlite
  const { byKeyDigest, bySession, hold } = yield* CredentialStore
  return CredentialStore.of({
    byKeyDigest: (digests) => transaction(byKeyDigest(digests)),
    bySession: (session, org) => transaction(bySession(session, org)),
    hold: (org, user, key) => transaction(hold(org, user, key))
  })
})

export const layerCredentials = Layer.mergeAll(
  Layer.effect(SigningKeyStore, signingKeys),
  Layer.effect(CliGrantStore, grants),
  Layer.effect(CredentialStore, standings).pipe(
    Layer.provide(CredentialStore.layerMemory),
    Layer.provideMerge(Layer.merge(Layer.effect(ApiKeyStore, apiKeys), Layer.effect(SessionStore, sessions)))
  )
)

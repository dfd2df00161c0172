/** Port: API keys. Only digests of secrets are stored, each with the id of the pepper that made it. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { ApiKeyId, BranchId, OrgId, ProjectId, UserId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { ApiKey, type KeyEnd, type StoredApiKey, type StoredSecret } from "./ApiKey.ts"

export interface KeyUse {
  readonly id: ApiKeyId
  readonly at: DateTime.Utc
  readonly from: string | null
}

/** Which keys to end at once. */
export type KeysToEnd =
  | { readonly org_id: OrgId }
  | { readonly org_id: OrgId; readonly user_id: UserId }
  | { readonly project_id: ProjectId }
  | { readonly branch_id: BranchId }

export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    readonly insert: (key: StoredApiKey) => Effect.Effect<void, StorageError>
    readonly find: (org: OrgId, key: ApiKeyId) => Effect.Effect<Option.Option<StoredApiKey>, StorageError>
    /** As `find`, and makes other transactions that lock the key wait. */
    readonly lock: (org: OrgId, key: ApiKeyId) => Effect.Effect<Option.Option<StoredApiKey>, StorageError>
    readonly findByDigest: (digests: ReadonlyArray<string>) => Effect.Effect<Option.Option<StoredApiKey>, StorageError>
    /** Replaces the key's secrets. */
    readonly putSecrets: (
      key: ApiKeyId,
      hint: string,
      secrets: ReadonlyArray<StoredSecret>
    ) => Effect.Effect<void, StorageError>
    /**
     * Keys that are not revoked, newest first; `creator` null: of all users. Keys that expired before `expiredSince`
     * are left out.
     */
    readonly list: (
      org: OrgId,
      creator: UserId | null,
      expiredSince: DateTime.Utc,
      page: PageRequest
    ) => Effect.Effect<Page<ApiKey>, StorageError>
    /** How many of this user's keys are valid at `now`. */
    readonly countLive: (org: OrgId, creator: UserId, now: DateTime.Utc) => Effect.Effect<number, StorageError>
    /** Revokes a key; `false` when it was revoked before or does not exist. */
    readonly revoke: (
      org: OrgId,
      key: ApiKeyId,
      reason: KeyEnd,
      now: DateTime.Utc
    ) => Effect.Effect<boolean, StorageError>
    /** Revokes every matching key that is not revoked yet, and answers their ids. */
    readonly revokeAll: (
      which: KeysToEnd,
      reason: KeyEnd,
      now: DateTime.Utc
    ) => Effect.Effect<ReadonlyArray<ApiKeyId>, StorageError>
    /** Records uses. `last_used_at` never moves back. */
    readonly touch: (uses: ReadonlyArray<KeyUse>) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/keys/ApiKeyStore") {
  static readonly layerMemory: Layer.Layer<ApiKeyStore, never, MemoryStorage> = Layer.effect(
    ApiKeyStore,
    Effect.gen(function* () {
      const keys = (yield* MemoryStorage).table<StoredApiKey>("api_key")
      const find = (org: OrgId, id: ApiKeyId) =>
        Effect.map(
          keys.get(id),
          Option.filter((row) => row.org_id === org)
        )
      const ended = (row: StoredApiKey, reason: KeyEnd, now: DateTime.Utc): StoredApiKey => ({
        ...row,
        key: new ApiKey({ ...row.key, revoked_at: now }),
        revoked_reason: reason
      })
      const matches = (row: StoredApiKey, which: KeysToEnd): boolean => {
        const { key } = row
        if ("branch_id" in which) return key.scope.type === "branch" && key.scope.branch_id === which.branch_id
        if ("project_id" in which) return key.scope.type !== "organization" && key.scope.project_id === which.project_id
        return row.org_id === which.org_id && (!("user_id" in which) || key.created_by.id === which.user_id)
      }
      return ApiKeyStore.of({
        insert: (row) => keys.put(row.key.id, row),
        find,
        lock: find,
        findByDigest: (digests) =>
          Effect.map(keys.all, (rows) =>
            Option.fromUndefinedOr(rows.find((row) => row.secrets.some((secret) => digests.includes(secret.digest))))
          ),
        putSecrets: (id, hint, secrets) =>
          keys.modify((rows) => [
            undefined,
            rows
              .filter((row) => row.key.id === id)
              .map((row) => [id, { ...row, key: new ApiKey({ ...row.key, hint }), secrets }])
          ]),
        list: (org, creator, expiredSince, page) =>
          Effect.map(keys.all, (rows) =>
            pageOfAll(
              rows
                .filter(
                  ({ key, org_id }) =>
                    org_id === org &&
                    key.revoked_at === null &&
                    (creator === null || key.created_by.id === creator) &&
                    (key.expires_at === null || DateTime.isGreaterThan(key.expires_at, expiredSince))
                )
                .map((row) => row.key),
              page
            )
          ),
        countLive: (org, creator, now) =>
          Effect.map(
            keys.all,
            (rows) =>
              rows.filter(
                ({ key, org_id }) =>
                  org_id === org && key.created_by.id === creator && key.revoked_at === null && !key.expiredAt(now)
              ).length
          ),
        revoke: (org, id, reason, now) =>
          keys.modify((rows) => {
            const row = rows.find((it) => it.key.id === id && it.org_id === org && it.key.revoked_at === null)
            return [row !== undefined, row === undefined ? [] : [[id, ended(row, reason, now)]]]
          }),
        revokeAll: (which, reason, now) =>
          keys.modify((rows) => {
            const found = rows.filter((row) => row.key.revoked_at === null && matches(row, which))
            return [found.map((row) => row.key.id), found.map((row) => [row.key.id, ended(row, reason, now)])]
          }),
        touch: (uses) =>
          keys.modify((rows) => [
            undefined,
            rows.flatMap((row) => {
              const newest = uses
                .filter((use) => use.id === row.key.id)
                .toSorted((a, b) => b.at.epochMilliseconds - a.at.epochMilliseconds)[0]
              const before = row.key.last_used_at
              if (newest === undefined || (before !== null && !DateTime.isLessThan(before, newest.at))) return []
              const key = new ApiKey({ ...row.key, last_used_at: newest.at, last_used_from: newest.from })
              return [[key.id, { ...row, key }] as const]
            })
          ])
      })
    })
  )
}

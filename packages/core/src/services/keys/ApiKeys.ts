/**
 * Creates, rotates, lists and revokes API keys (docs/design/identity.md I4, I5).
 *
 * A key belongs to its creator, who is read from the caller and never from a request. The secret leaves this module
 * once, in the answer to its creation.
 *
 * Pitfall: looking up the scope of a body outside the caller's organization. An id that is not found
 * answers the same whether it is foreign, invented or malformed.
 * Pitfall: trusting the authentication of the request. The caller may have been signed out, disabled or removed since,
 * so a secret is made only under locks that exclude that.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, type Redacted } from "effect"
import { makeApiKeyId, type OrgId, type SessionId, type UserId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import {
  Conflict,
  type InvalidCredential,
  type InvalidMember,
  NotFound,
  orNotFound,
  Refused,
  type SignInRequired
} from "../../Refusals.ts"
import { AccessPolicy, accountState } from "../../records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { AuditLog } from "../../records/audit/AuditLog.ts"
import { anonymousActor, noteAct } from "../../records/audit/noteAct.ts"
import { apiKeyRevoked } from "../../records/events/InternalEvents.ts"
import { ApiKey, type Capability, type KeyEnd, type Scope, type StoredApiKey } from "../../records/keys/ApiKey.ts"
import { ApiKeyStore } from "../../records/keys/ApiKeyStore.ts"
import { KeyDigester } from "../../records/keys/KeyDigester.ts"
import { hintOf, makeKeySecret } from "../../records/keys/KeySecret.ts"
import { KeyUses } from "../../records/keys/KeyUses.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import { SessionStore } from "../../records/sessions/SessionStore.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { activeSession } from "../sign-in/activeSession.ts"
import { resolvingScope, unknownScope, type WantedScope } from "./wantedScope.ts"

/** How many valid keys a user may have in one organization. */
export const KeyLimit = Context.Reference<number>("@narthex/core/services/keys/KeyLimit", { defaultValue: () => 1000 })

/** How long an expired key is listed. */
const listedAfterExpiry = Duration.days(30)

export interface NewApiKey {
  readonly name: string
  readonly capability: Capability
  readonly scope: Scope
  /** `null`: the key never expires. */
  readonly expires_in_days: number | null
}

/** A person who acts in an organization through a session. */
export interface KeyCreator {
  readonly session_id: SessionId
  readonly org_id: OrgId
  readonly user: { readonly id: UserId }
}

/** A caller that revokes a key: a user, or the key itself. */
type Revoker = Pick<AnyCaller, "kind" | "org_id">

/** The session has ended, or its user is disabled. */
type NotSignedIn = InvalidCredential | SignInRequired

export interface CreatedApiKey {
  readonly api_key: ApiKey
  readonly secret: Redacted.Redacted
}

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** The scope, if every object that it names is in the organization. */
    readonly resolveScope: (org: OrgId, scope: WantedScope) => Effect.Effect<Scope, InvalidMember | StorageError>
    /**
     * Creates a key of this user in this organization, if at the commit the session is active, the user is an enabled
     * member, and the scope exists: a concurrent removal that revokes the user's keys misses none. Joins a running
     * transaction.
     */
    readonly create: (
      creator: KeyCreator,
      wanted: NewApiKey
    ) => Effect.Effect<CreatedApiKey, Conflict | InvalidMember | NotSignedIn | Refused | StorageError>
    /**
     * Creates a new secret for the same key, unless the key has expired. The old secret expires after the grace period.
     * Database credentials that the key minted stay: they belong to the key, not to its secret.
     * `NotFound` for a key of another user.
     */
    readonly rotate: (
      creator: KeyCreator,
      key: StoredApiKey,
      graceSeconds: number
    ) => Effect.Effect<CreatedApiKey, Conflict | NotFound | NotSignedIn | StorageError>
    /**
     * The keys that the caller may see: all for a caller who manages keys, else the caller's own, and for a narrower
     * key itself.
     */
    readonly list: (caller: AnyCaller, page: PageRequest) => Effect.Effect<Page<ApiKey>, StorageError>
    /**
     * Revokes a key that the caller may revoke, with the database credentials that it minted, and records whether the
     * key revoked itself.
     */
    readonly revoke: (caller: Revoker, key: ApiKey["id"]) => Effect.Effect<void, NotFound | StorageError>
    /**
     * Revokes the key that this secret opens. Any other text, also a secret that expired in a rotation, changes
     * nothing.
     */
    readonly report: (secret: Redacted.Redacted) => Effect.Effect<void, StorageError>
    /** The key as a list shows it; `NotFound` from 30 days after its expiry, when lists no longer show it. */
    readonly read: (key: ApiKey) => Effect.Effect<ApiKey, NotFound>
    /** The key with the uses that this process has not written yet. */
    readonly withUse: (key: ApiKey) => ApiKey
  }
>()("@narthex/core/services/keys/ApiKeys") {
  static readonly layer: Layer.Layer<
    ApiKeys,
    never,
    | AccountStore
    | ApiKeyStore
    | AuditLog
    | BranchRoleStore
    | BranchStore
    | KeyDigester
    | KeyUses
    | ProjectStore
    | SessionStore
    | Transaction
  > = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const note = noteAct(yield* AuditLog)
      const branches = yield* BranchStore
      const digester = yield* KeyDigester
      const projects = yield* ProjectStore
      const roles = yield* BranchRoleStore
      const store = yield* ApiKeyStore
      const uses = yield* KeyUses
      const { emit, run } = yield* Transaction
      const held = activeSession(yield* SessionStore, accounts)

      const resolveScope = resolvingScope(projects, branches)

      const freshSecret = Effect.gen(function* () {
        const secret = yield* makeKeySecret
        const [present] = yield* digester.digests(secret)
        return { secret, stored: { ...present, dies_at: null } }
      })

      /** Locks what the key reaches, so that its end cannot miss the new key. */
      const lockScope = Effect.fnUntraced(function* (org: OrgId, scope: Scope) {
        if (scope.type === "project" && Option.isNone(yield* projects.lock(org, scope.project_id)))
          return yield* unknownScope("project_id")
        if (scope.type === "branch" && Option.isNone(yield* branches.lock(scope.project_id, scope.branch_id)))
          return yield* unknownScope("branch_id")
      })

      const create = Effect.fn("ApiKeys.create")(function* (creator: KeyCreator, wanted: NewApiKey) {
        const limit = yield* KeyLimit
        const org = creator.org_id
        const { secret, stored } = yield* freshSecret
        const step = Effect.gen(function* () {
          const { user } = yield* held(creator.session_id)
          if (accountState(yield* AccessPolicy, user) === "pending")
            return yield* new Refused({ code: "alpha_pending", required: "active", held: "pending" })
          yield* accounts.lockOrganization(org)
          if (Option.isNone(yield* accounts.findMembership(org, user.id)))
            return yield* new Refused({ code: "not_a_member", required: "membership", held: null })
          yield* lockScope(org, wanted.scope)
          const now = yield* DateTime.now
          if ((yield* store.countLive(org, user.id, now)) >= limit)
            return yield* new Conflict({
              reason: `You have ${limit} keys in this organization already. Revoke one first.`
            })
          const key = new ApiKey({
            id: yield* makeApiKeyId,
            name: wanted.name.trim(),
            hint: hintOf(secret),
            capability: wanted.capability,
            scope: wanted.scope,
            created_at: now,
            created_by: user.ref,
            expires_at:
              wanted.expires_in_days === null ? null : DateTime.addDuration(now, Duration.days(wanted.expires_in_days)),
            last_used_at: null,
            last_used_from: null,
            revoked_at: null
          })
          yield* store.insert({ key, org_id: org, revoked_reason: null, secrets: [stored] })
          return key
        })
        return { api_key: yield* run(step), secret }
      })

      const rotate = Effect.fn("ApiKeys.rotate")(function* (
        creator: KeyCreator,
        { key: { id } }: StoredApiKey,
        grace: number
      ) {
        const { secret, stored } = yield* freshSecret
        const step = Effect.gen(function* () {
          yield* held(creator.session_id)
          const row = yield* orNotFound(store.lock(creator.org_id, id))
          if (row.key.revoked_at !== null || row.key.created_by.id !== creator.user.id) return yield* new NotFound({})
          const now = yield* DateTime.now
          if (row.key.expiredAt(now)) return yield* new Conflict({ reason: "The key has expired. Create a new one." })
          const dies_at = DateTime.addDuration(now, Duration.seconds(grace))
          const former = row.secrets
            .filter((it) => it.dies_at === null || DateTime.isGreaterThan(it.dies_at, now))
            .map((it) => ({ ...it, dies_at: it.dies_at === null ? dies_at : DateTime.min(it.dies_at, dies_at) }))
          yield* store.putSecrets(id, hintOf(secret), grace === 0 ? [stored] : [stored, ...former])
          // Streams of the old secret end now. A stream that it opens within its grace period ends with the period.
          yield* emit(apiKeyRevoked(row.org_id, id))
          return new ApiKey({ ...row.key, hint: hintOf(secret) })
        })
        return { api_key: yield* run(step), secret }
      })

      const withUse = (key: ApiKey): ApiKey => {
        const use = uses.held(key.id)
        const newer =
          use !== undefined && (key.last_used_at === null || DateTime.isGreaterThan(use.at, key.last_used_at))
        return newer ? new ApiKey({ ...key, last_used_at: use.at, last_used_from: use.from }) : key
      }

      const read = Effect.fn("ApiKeys.read")(function* (key: ApiKey) {
        const { expires_at, revoked_at } = key
        const since = DateTime.subtractDuration(yield* DateTime.now, listedAfterExpiry)
        const listed = revoked_at === null && (expires_at === null || DateTime.isGreaterThan(expires_at, since))
        return listed ? withUse(key) : yield* new NotFound({})
      })

      const list: ApiKeys["Service"]["list"] = Effect.fn("ApiKeys.list")(function* (caller, page) {
        if (caller.kind === "api_key" && caller.scope.type !== "organization") {
          const own = yield* store.find(caller.org_id, caller.api_key_id)
          return pageOfAll(
            Option.toArray(own).map((row) => withUse(row.key)),
            page
          )
        }
        const all = caller.permissions.has("manage_keys")
        const since = DateTime.subtractDuration(yield* DateTime.now, listedAfterExpiry)
        const { items, next_cursor } = yield* store.list(caller.org_id, all ? null : caller.user.id, since, page)
        return { items: items.map(withUse), next_cursor }
      })

      const end = Effect.fnUntraced(function* (org: OrgId, id: ApiKey["id"], reason: KeyEnd) {
        const now = yield* DateTime.now
        if (!(yield* store.revoke(org, id, reason, now))) return yield* new NotFound({})
        yield* roles.revoke({ api_key_ids: [id] }, now)
        yield* emit(apiKeyRevoked(org, id))
      })

      const revoke = Effect.fn("ApiKeys.revoke")(({ kind, org_id }: Revoker, id: ApiKey["id"]) =>
        run(end(org_id, id, kind === "api_key" ? "self_revoked" : "revoked"))
      )

      const report = Effect.fn("ApiKeys.report")(function* (secret: Redacted.Redacted) {
        const digests = (yield* digester.digests(secret)).map(({ digest }) => digest)
        const found = Option.getOrUndefined(yield* store.findByDigest(digests))
        const now = yield* DateTime.now
        const opens = found?.secrets.some(
          ({ dies_at, digest }) =>
            digests.includes(digest) && (dies_at === null || DateTime.isGreaterThan(dies_at, now))
        )
        if (found === undefined || !opens) return
        const { id, name } = found.key
        const ended = Effect.andThen(
          end(found.org_id, id, "reported"),
          note({
            org_id: found.org_id,
            action: "api_key.reported",
            actor: anonymousActor,
            targets: [{ type: "api_key", id, name }]
          })
        )
        yield* Effect.catchTag(run(ended), "NotFound", () => Effect.void)
        yield* Effect.logWarning("A leaked API key was reported and revoked.", { api_key_id: id })
      })

      return ApiKeys.of({ resolveScope, create, rotate, list, read, revoke, report, withUse })
    })
  )
}

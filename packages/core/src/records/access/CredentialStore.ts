/**
 * Port: everything that a credential stands for, in one read: key or session, its user, the organization and the
 * user's role in it. It runs on every request, so an adapter makes it one indexed query.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { ApiKeyId, OrgId, SessionId, UserId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import { AccountStore } from "../accounts/AccountStore.ts"
import type { Organization } from "../accounts/Organization.ts"
import type { User, UserProfile } from "../accounts/User.ts"
import type { ApiKey, StoredApiKey } from "../keys/ApiKey.ts"
import { ApiKeyStore } from "../keys/ApiKeyStore.ts"
import type { Session } from "../sessions/Session.ts"
import { SessionStore } from "../sessions/SessionStore.ts"

export interface Standing {
  readonly user: User
  /** `null` when the organization has been deleted. */
  readonly organization: Organization | null
  /** `null` when the user is no longer a member. */
  readonly role: string | null
  /** The inviter of the user, while the membership is not confirmed (`Membership`). */
  readonly invited_by: UserProfile | null
}

export interface KeyStanding extends Standing {
  readonly key: StoredApiKey
}

export interface SessionStanding extends Standing {
  readonly session: Session
}

/** A membership, and the key that acts for it; `null`: a session does. */
export interface HeldStanding {
  readonly user: User
  readonly role: string
  readonly key: ApiKey | null
}

export class CredentialStore extends Context.Service<
  CredentialStore,
  {
    /** By any of the digests of the secret, one for each pepper in use. */
    readonly byKeyDigest: (digests: ReadonlyArray<string>) => Effect.Effect<Option.Option<KeyStanding>, StorageError>
    /** The session, and its user's standing in this organization. */
    readonly bySession: (session: SessionId, org: OrgId) => Effect.Effect<Option.Option<SessionStanding>, StorageError>
    /**
     * The membership as it is in the running transaction. A transaction that disables the user, changes or ends the
     * membership or ends the key waits until this one ends; other holders do not wait. `None`: no longer a member.
     */
    readonly hold: (
      org: OrgId,
      user: UserId,
      key: ApiKeyId | null
    ) => Effect.Effect<Option.Option<HeldStanding>, StorageError>
  }
>()("@narthex/core/records/access/CredentialStore") {
  static readonly layerMemory: Layer.Layer<CredentialStore, never, AccountStore | ApiKeyStore | SessionStore> =
    Layer.effect(
      CredentialStore,
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const keys = yield* ApiKeyStore
        const sessions = yield* SessionStore

        const standing = Effect.fnUntraced(function* (userId: User["id"], org: OrgId) {
          const user = yield* accounts.findUser(userId)
          const organization = Option.getOrNull(yield* accounts.findOrganization(org))
          const membership = Option.getOrNull(yield* accounts.findMembership(org, userId))
          return Option.map(
            user,
            (found): Standing => ({
              user: found,
              organization,
              role: membership?.role ?? null,
              invited_by: membership?.invited_by ?? null
            })
          )
        })

        return CredentialStore.of({
          byKeyDigest: Effect.fnUntraced(function* (digests) {
            const key = Option.getOrUndefined(yield* keys.findByDigest(digests))
            if (key === undefined) return Option.none()
            return Option.map(yield* standing(key.key.created_by.id, key.org_id), (found) => ({ ...found, key }))
          }),
          bySession: Effect.fnUntraced(function* (id, org) {
            const session = Option.getOrUndefined(yield* sessions.lock(id))
            if (session === undefined) return Option.none()
            return Option.map(yield* standing(session.user_id, org), (found) => ({ ...found, session }))
          }),
          hold: Effect.fnUntraced(function* (org, userId, keyId) {
            const found = Option.getOrUndefined(yield* standing(userId, org))
            const key = keyId === null ? Option.none() : yield* keys.find(org, keyId)
            if (found === undefined || found.role === null || (keyId !== null && Option.isNone(key)))
              return Option.none()
            return Option.some({
              user: found.user,
              role: found.role,
              key: Option.getOrNull(Option.map(key, (it) => it.key))
            })
          })
        })
      })
    )
}

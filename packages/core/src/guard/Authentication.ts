/**
 * From a bearer credential to its caller (docs/design/authorization.md Z6, steps 2 and 3).
 *
 * Every answer is read from storage: a revocation, a demotion or a removal acts on the next request, on every
 * instance. The answer to a refused credential says no more than its code.
 */
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { AccessPolicy, accountState } from "../accounts/AccessPolicy.ts"
import { ActiveOrganization } from "../accounts/Organization.ts"
import type { AnyCaller } from "../authorization/Principal.ts"
import { Roles } from "../authorization/Roles.ts"
import type { OrgId } from "../Ids.ts"
import { KeyDigester } from "../keys/KeyDigester.ts"
import { isKeySecret } from "../keys/KeySecret.ts"
import { KeyUses } from "../keys/KeyUses.ts"
import { InvalidCredential, SignInRequired, TokenExpired } from "../Refusals.ts"
import { requestSpan } from "../requestSpan.ts"
import type { StorageError } from "../StorageError.ts"
import { SessionPolicy } from "../sessions/Session.ts"
import { TokenSigner } from "../sessions/TokenSigner.ts"
import { CredentialStore, type Standing } from "./CredentialStore.ts"

export class Authentication extends Context.Service<
  Authentication,
  {
    /** `from` is the client's address, for the record of a key's last use. */
    readonly authenticate: (
      credential: Redacted.Redacted,
      from: string | null
    ) => Effect.Effect<AnyCaller, InvalidCredential | TokenExpired | SignInRequired | StorageError>
  }
>()("@narthex/core/guard/Authentication") {
  static readonly layer: Layer.Layer<Authentication, never, CredentialStore | KeyDigester | KeyUses | TokenSigner> =
    Layer.effect(
      Authentication,
      Effect.gen(function* () {
        const credentials = yield* CredentialStore
        const digester = yield* KeyDigester
        const uses = yield* KeyUses
        const signer = yield* TokenSigner

        const byKey = Effect.fnUntraced(function* (secret: Redacted.Redacted, from: string | null) {
          if (!isKeySecret(Redacted.value(secret))) return yield* new InvalidCredential({})
          const digests = (yield* digester.digests(secret)).map(({ digest }) => digest)
          const found = Option.getOrUndefined(yield* credentials.byKeyDigest(digests))
          if (found === undefined || found.user.disabled_at !== null) return yield* new InvalidCredential({})

          const now = yield* DateTime.now
          const { key, org_id, revoked_reason, secrets } = found.key
          const presented = secrets.find((it) => digests.includes(it.digest))
          const secretIsOver = presented?.dies_at != null && DateTime.isGreaterThanOrEqualTo(now, presented.dies_at)
          const ended = key.revoked_at !== null && revoked_reason !== "membership_ended"
          if (presented === undefined || secretIsOver || ended || key.expiredAt(now))
            return yield* new InvalidCredential({})

          // Rejoining an organization does not revive the keys that leaving it revoked.
          const role = revoked_reason === "membership_ended" ? null : found.role
          yield* uses.note(key, from)
          return {
            kind: "api_key",
            api_key_id: key.id,
            api_key_name: key.name,
            capability: key.capability,
            scope: key.scope,
            secret: presented,
            expires_at: key.expires_at,
            permissions: (yield* Roles).permissionsOf(role ?? ""),
            ...(yield* callerOf(found, org_id, role))
          } satisfies AnyCaller
        })

        const bySession = Effect.fnUntraced(function* (token: Redacted.Redacted) {
          const claims = yield* Effect.catchTag(signer.verify(token), "ForgedToken", () => new InvalidCredential({}))
          const found = Option.getOrUndefined(yield* credentials.bySession(claims.sid, claims.org_id))
          if (found === undefined) return yield* new SignInRequired({})
          const { session, user } = found
          if (user.id !== claims.sub || user.disabled_at !== null) return yield* new InvalidCredential({})

          const now = yield* DateTime.now
          const { window } = yield* SessionPolicy
          if (session.revoked_at !== null || DateTime.isGreaterThanOrEqualTo(now, session.refreshUntil(window)))
            return yield* new SignInRequired({})
          const expires_at = DateTime.makeUnsafe(claims.exp * 1000)
          if (DateTime.isGreaterThanOrEqualTo(now, expires_at)) return yield* new TokenExpired({})

          // A demotion acts at once, a promotion at the next refresh (docs/design/authorization.md Z16).
          const { covers, permissionsOf } = yield* Roles
          const stored = permissionsOf(found.role ?? "")
          const role = found.role === null || covers(found.role, claims.role) ? found.role && claims.role : found.role
          return {
            kind: "session",
            session_id: session.id,
            expires_at,
            permissions:
              claims.role === found.role
                ? stored
                : new Set([...permissionsOf(claims.role)].filter((permission) => stored.has(permission))),
            ...(yield* callerOf(found, claims.org_id, role))
          } satisfies AnyCaller
        })

        const callerOf = Effect.fnUntraced(function* (
          { invited_by, organization, user }: Standing,
          org_id: OrgId,
          role: string | null
        ) {
          const settings = yield* AccessPolicy
          return {
            user,
            org_id,
            organization: new ActiveOrganization({
              id: org_id,
              name: organization?.name ?? "",
              role: organization === null ? null : role,
              personal: organization?.personal ?? false
            }),
            invited_by,
            account_state: accountState(settings, user)
          }
        })

        return Authentication.of({
          authenticate: Effect.fnUntraced(function* (credential, from) {
            return Redacted.value(credential).startsWith("nsk_")
              ? yield* byKey(credential, from)
              : yield* bySession(credential)
          }, requestSpan("Authentication.authenticate"))
        })
      })
    )
}

/**
 * The caller that a credential stands for, or why it is refused (docs/design/authorization.md Z6, step 3): pure, from
 * what storage holds at this moment.
 */
import { DateTime, Result } from "effect"
import type { OrgId } from "../../Ids.ts"
import { InvalidCredential, SignInRequired, TokenExpired } from "../../Refusals.ts"
import type { KeyStanding, SessionStanding, Standing } from "../../records/access/CredentialStore.ts"
import { type AccessSettings, accountState } from "../../records/accounts/AccessPolicy.ts"
import type { SessionClaims, SessionSettings } from "../../records/sessions/Session.ts"
import type { KeyCaller, SessionCaller } from "../../rules/authorization/Principal.ts"
import type { RoleTable } from "../../rules/authorization/Roles.ts"

/** The circumstances that a decision depends on in addition to storage. */
export interface Circumstances {
  readonly now: DateTime.Utc
  readonly access: AccessSettings
  readonly roles: RoleTable
}

/** The members that callers of both kinds have; `role` is the role that the credential acts with. */
const standingOf = (
  { invited_by, organization, user }: Standing,
  org_id: OrgId,
  role: string | null,
  at: Circumstances
) => ({
  user,
  org_id,
  organization: {
    id: org_id,
    name: organization?.name ?? "",
    role: organization === null ? null : role,
    personal: organization?.personal ?? false
  },
  invited_by,
  account_state: accountState(at.access, user)
})

/** `digests`: of the presented secret, under each pepper in use. */
export const callerOfKey = (
  found: KeyStanding | undefined,
  digests: ReadonlyArray<string>,
  at: Circumstances
): Result.Result<KeyCaller, InvalidCredential> => {
  if (found === undefined || found.user.disabled_at !== null) return Result.fail(new InvalidCredential({}))
  const { key, org_id, revoked_reason, secrets } = found.key
  const presented = secrets.find((it) => digests.includes(it.digest))
  const secretIsOver = presented?.dies_at != null && DateTime.isGreaterThanOrEqualTo(at.now, presented.dies_at)
  const ended = key.revoked_at !== null && revoked_reason !== "membership_ended"
  if (presented === undefined || secretIsOver || ended || key.expiredAt(at.now))
    return Result.fail(new InvalidCredential({}))

  // Rejoining an organization does not revive the keys that leaving it revoked.
  const role = revoked_reason === "membership_ended" ? null : found.role
  return Result.succeed({
    kind: "api_key",
    api_key_id: key.id,
    api_key_name: key.name,
    capability: key.capability,
    scope: key.scope,
    secret: presented,
    expires_at: key.expires_at,
    permissions: at.roles.permissionsOf(role ?? ""),
    ...standingOf(found, org_id, role, at)
  })
}

/** `claims`: of a token whose signature is valid. */
export const callerOfSession = (
  found: SessionStanding | undefined,
  claims: SessionClaims,
  window: SessionSettings["window"],
  at: Circumstances
): Result.Result<SessionCaller, InvalidCredential | SignInRequired | TokenExpired> => {
  if (found === undefined) return Result.fail(new SignInRequired({}))
  const { session, user } = found
  if (user.id !== claims.sub || user.disabled_at !== null) return Result.fail(new InvalidCredential({}))
  if (session.revoked_at !== null || DateTime.isGreaterThanOrEqualTo(at.now, session.refreshUntil(window)))
    return Result.fail(new SignInRequired({}))
  const expires_at = DateTime.makeUnsafe(claims.exp * 1000)
  if (DateTime.isGreaterThanOrEqualTo(at.now, expires_at)) return Result.fail(new TokenExpired({}))

  // A demotion acts at once, a promotion at the next refresh (docs/design/authorization.md Z16).
  const { covers, permissionsOf } = at.roles
  const stored = permissionsOf(found.role ?? "")
  const role = found.role === null || covers(found.role, claims.role) ? found.role && claims.role : found.role
  return Result.succeed({
    kind: "session",
    session_id: session.id,
    expires_at,
    permissions:
      claims.role === found.role
        ? stored
        : new Set([...permissionsOf(claims.role)].filter((permission) => stored.has(permission))),
    ...standingOf(found, claims.org_id, role, at)
  })
}

/**
 * Revalidates the right to a live stream, the backstop behind revocations (docs/design/events.md E28–E33).
 *
 * Revalidation checks the same facts as a request: the credential is valid, and its user is neither disabled nor
 * pending, and is a member who may read.
 *
 * Pitfall: checking the key alone. A key outlives its secrets, so the secret that was presented is checked too.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import type { ProjectId } from "../../Ids.ts"
import { AccessPolicy, accountState } from "../../records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { ApiKeyStore } from "../../records/keys/ApiKeyStore.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import { SessionPolicy } from "../../records/sessions/Session.ts"
import { SessionStore } from "../../records/sessions/SessionStore.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { Roles } from "../../rules/authorization/Roles.ts"
import type { StreamAccess } from "../events/streams/StreamAccess.ts"
import { StreamAuthority } from "../events/streams/StreamAuthority.ts"

export interface StreamRight {
  readonly access: StreamAccess
  /** When the right expires; `null`: only a revocation ends it. */
  readonly expires_at: DateTime.Utc | null
}

/**
 * The right by which a caller follows a stream of its organization, or of one project. A key's right ends with the
 * secret that was presented, if that ends before the key.
 */
export const streamRightOf = (caller: AnyCaller, project_id: ProjectId | null): StreamRight => {
  const key = caller.kind === "api_key" ? caller : undefined
  const scope = key === undefined || key.scope.type === "organization" ? undefined : key.scope
  const principal = {
    session_id: caller.kind === "session" ? caller.session_id : null,
    api_key_id: key?.api_key_id ?? null,
    secret: key === undefined ? null : { digest: key.secret.digest, dies_at: key.secret.dies_at },
    user_id: caller.user.id,
    project_id: scope?.project_id ?? null,
    branch_id: scope?.type === "branch" ? scope.branch_id : null
  }
  const ends = [caller.expires_at, key?.secret.dies_at ?? null].filter((end) => end !== null)
  return {
    access: { org_id: caller.org_id, project_id, principal },
    expires_at: ends.length === 0 ? null : ends.reduce((a, b) => DateTime.min(a, b))
  }
}

const sameEnd = (a: DateTime.Utc | null, b: DateTime.Utc | null) =>
  a === null || b === null ? a === b : DateTime.Equivalence(a, b)

export const layerStreamAuthority: Layer.Layer<
  StreamAuthority,
  never,
  AccountStore | ApiKeyStore | ProjectStore | SessionStore
> = Layer.effect(
  StreamAuthority,
  Effect.gen(function* () {
    const accounts = yield* AccountStore
    const keys = yield* ApiKeyStore
    const projects = yield* ProjectStore
    const sessions = yield* SessionStore

    const credentialLives = Effect.fnUntraced(function* ({ org_id, principal }: StreamAccess) {
      const now = yield* DateTime.now
      if (principal.api_key_id !== null) {
        const row = Option.getOrUndefined(yield* keys.find(org_id, principal.api_key_id))
        if (row === undefined || row.key.revoked_at !== null || row.key.expiredAt(now)) return false
        // A secret that has been rotated since expires sooner than its stream knows, or has expired already.
        const secret = row.secrets.find(({ digest }) => digest === principal.secret?.digest)
        if (secret === undefined || !sameEnd(secret.dies_at, principal.secret?.dies_at ?? null)) return false
        return secret.dies_at === null || DateTime.isLessThan(now, secret.dies_at)
      }
      if (principal.session_id === null) return false
      const session = Option.getOrUndefined(yield* sessions.lock(principal.session_id))
      const { window } = yield* SessionPolicy
      return (
        session !== undefined && session.revoked_at === null && DateTime.isLessThan(now, session.refreshUntil(window))
      )
    })

    return StreamAuthority.of({
      permits: Effect.fn("StreamAuthority.permits")(function* (access) {
        const { org_id, principal, project_id } = access
        if (!(yield* credentialLives(access))) return false
        const user = Option.getOrUndefined(yield* accounts.findUser(principal.user_id))
        if (user === undefined || user.disabled_at !== null) return false
        if (accountState(yield* AccessPolicy, user) === "pending") return false
        const membership = Option.getOrUndefined(yield* accounts.findMembership(org_id, user.id))
        if (membership === undefined || !(yield* Roles).permissionsOf(membership.role).has("read")) return false
        return project_id === null || Option.isSome(yield* projects.find(org_id, project_id))
      })
    })
  })
)

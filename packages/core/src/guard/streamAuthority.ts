/**
 * Looks the right of a live stream up again, the backstop behind revocations (docs/design/events.md E28–E33).
 *
 * The same facts as at a request: the credential lives, its user is not disabled or pending, and is a member who may
 * read.
 *
 * Pitfall: checking the key alone. A key outlives its secrets, so the secret that was presented is checked too.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { AccessPolicy, accountState } from "../accounts/AccessPolicy.ts"
import { AccountStore } from "../accounts/AccountStore.ts"
import type { StreamAccess } from "../events/Revocations.ts"
import { StreamAuthority } from "../events/StreamAuthority.ts"
import { ApiKeyStore } from "../keys/ApiKeyStore.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { SessionPolicy } from "../sessions/Session.ts"
import { SessionStore } from "../sessions/SessionStore.ts"
import { permissionsOf } from "../authorization/Permission.ts"

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
        // A secret that was rotated since ends sooner than its stream knows, or has ended already.
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
        if (membership === undefined || !permissionsOf(membership.role).has("read")) return false
        return project_id === null || Option.isSome(yield* projects.find(org_id, project_id))
      })
    })
  })
)

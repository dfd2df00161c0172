/**
 * A session that has not ended and its user, who is not disabled, as they are in the running transaction.
 *
 * The session stays locked until the transaction ends, so a concurrent sign-out or refresh waits for it.
 */
import { DateTime, Effect, Option } from "effect"
import type { SessionId } from "../../Ids.ts"
import { InvalidCredential, SignInRequired } from "../../Refusals.ts"
import type { AccountStore } from "../../records/accounts/AccountStore.ts"
import type { User } from "../../records/accounts/User.ts"
import { type Session, SessionPolicy } from "../../records/sessions/Session.ts"
import type { SessionStore } from "../../records/sessions/SessionStore.ts"
import type { StorageError } from "../../StorageError.ts"

export interface ActiveSession {
  readonly session: Session
  readonly user: User
}

export const activeSession = (
  sessions: SessionStore["Service"],
  accounts: AccountStore["Service"]
): ((id: SessionId) => Effect.Effect<ActiveSession, InvalidCredential | SignInRequired | StorageError>) =>
  Effect.fnUntraced(function* (id) {
    const session = Option.getOrUndefined(yield* sessions.lock(id))
    if (session === undefined || session.revoked_at !== null) return yield* new SignInRequired({})
    const { window } = yield* SessionPolicy
    if (DateTime.isGreaterThanOrEqualTo(yield* DateTime.now, session.refreshUntil(window)))
      return yield* new SignInRequired({})
    const user = Option.getOrUndefined(yield* accounts.findUser(session.user_id))
    if (user === undefined || user.disabled_at !== null) return yield* new InvalidCredential({})
    return { session, user }
  })

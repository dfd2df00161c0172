/**
 * A session that is not over, and its person, who is not disabled; both as they are in the running transaction.
 *
 * The session stays locked to the end of the transaction, so neither a sign-out nor a refresh passes whoever asks here.
 */
import { DateTime, Effect, Option } from "effect"
import type { AccountStore } from "../accounts/AccountStore.ts"
import type { User } from "../accounts/User.ts"
import { InvalidCredential, SignInRequired } from "../guard/Authentication.ts"
import type { SessionId } from "../Ids.ts"
import type { StorageError } from "../StorageError.ts"
import { type Session, SessionPolicy } from "../sessions/Session.ts"
import type { SessionStore } from "../sessions/SessionStore.ts"

export interface LivingSession {
  readonly session: Session
  readonly user: User
}

export const livingSession = (
  sessions: SessionStore["Service"],
  accounts: AccountStore["Service"]
): ((id: SessionId) => Effect.Effect<LivingSession, InvalidCredential | SignInRequired | StorageError>) =>
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

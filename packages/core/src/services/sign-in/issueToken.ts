/** Signs a JWT for the session with the role that the user has now, and makes the session answer from it. */
import { DateTime, Effect, Option, type Redacted } from "effect"
import { Base64Url } from "effect/encoding"
import { Entropy } from "../../Entropy.ts"
import { AccessPolicy, accountState } from "../../records/accounts/AccessPolicy.ts"
import type { AccountStore } from "../../records/accounts/AccountStore.ts"
import type { ActiveOrganization } from "../../records/accounts/Organization.ts"
import { type AccountState, type User, UserProfile } from "../../records/accounts/User.ts"
import { type Session, SessionPolicy } from "../../records/sessions/Session.ts"
import type { TokenSigner } from "../../records/sessions/TokenSigner.ts"
import type { StorageError } from "../../StorageError.ts"

export interface IssuedSession {
  readonly access_token: Redacted.Redacted
  readonly expires_at: DateTime.Utc
  readonly refresh_until: DateTime.Utc
  readonly account_state: AccountState
  readonly user: UserProfile
  readonly organization: ActiveOrganization
  /** The inviter of the user, while the membership is not confirmed (`Membership`). */
  readonly invited_by: UserProfile | null
}

const seconds = (instant: DateTime.Utc) => Math.floor(instant.epochMilliseconds / 1000)

export const issueToken = (
  accounts: AccountStore["Service"],
  signer: TokenSigner["Service"]
): ((session: Session, user: User) => Effect.Effect<IssuedSession, StorageError>) =>
  Effect.fn("Sessions.issue")(function* (session, user) {
    const { jwt_lifetime, window } = yield* SessionPolicy
    const now = yield* DateTime.now
    const membership = yield* accounts.findMembership(session.active_org_id, user.id)
    const organization = yield* accounts.findOrganization(session.active_org_id)
    const role = Option.match(membership, { onNone: () => null, onSome: (it) => it.role })
    const refresh_until = session.refreshUntil(window)
    const expires_at = DateTime.min(DateTime.addDuration(now, jwt_lifetime), refresh_until)
    const access_token = yield* signer.sign({
      sub: user.id,
      sid: session.id,
      org_id: session.active_org_id,
      role: role ?? "",
      auth_time: seconds(session.signed_in_at),
      iat: seconds(now),
      exp: seconds(expires_at),
      jti: Base64Url.encode(yield* (yield* Entropy).bytes(16)),
      gen: session.generation
    })
    return {
      access_token,
      expires_at: DateTime.makeUnsafe(seconds(expires_at) * 1000),
      refresh_until,
      account_state: accountState(yield* AccessPolicy, user),
      user: new UserProfile({ id: user.id, email: user.email, name: user.name }),
      organization: {
        id: session.active_org_id,
        name: Option.match(organization, { onNone: () => "", onSome: (it) => it.name }),
        role,
        personal: Option.match(organization, { onNone: () => false, onSome: (it) => it.personal })
      },
      invited_by: Option.match(membership, { onNone: () => null, onSome: (it) => it.invited_by })
    }
  })

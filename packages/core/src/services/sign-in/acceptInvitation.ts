/**
 * Turns one invitation into a membership, inside the running transaction.
 *
 * The organization is locked before the invitation, as by every change of its members and by its end. So an invitation
 * is accepted before the organization ends, and the end removes the membership, or the invitation is gone.
 *
 * Pitfall: trusting the invitation that was read to find the organization. The row under both locks is authoritative.
 */
import { DateTime, Effect, Option } from "effect"
import type { AccountStore } from "../../records/accounts/AccountStore.ts"
import { normalizeEmail } from "../../records/accounts/EmailAddress.ts"
import { StoredInvitation } from "../../records/accounts/Invitation.ts"
import type { InvitationStore } from "../../records/accounts/InvitationStore.ts"
import { Membership } from "../../records/accounts/Membership.ts"
import { type User, UserProfile } from "../../records/accounts/User.ts"
import { Roles } from "../../rules/authorization/Roles.ts"
import type { StorageError } from "../../StorageError.ts"

/** The normalized address by which a user is invited; `undefined`: it is not verified. */
export const invitedAddress = (user: Pick<User, "email" | "email_verified">): string | undefined =>
  user.email === null || !user.email_verified ? undefined : normalizeEmail(user.email)

/**
 * The invitation under its lock and that of its organization, if it is pending for the user. Else `None`: it was
 * accepted, declined, revoked, expired, or removed with its organization.
 */
export const lockOwnInvitation = (accounts: AccountStore["Service"], invitations: InvitationStore["Service"]) =>
  Effect.fnUntraced(function* (
    user: Pick<User, "email" | "email_verified">,
    { id, org_id }: Pick<StoredInvitation, "id" | "org_id">
  ): Effect.fn.Return<Option.Option<StoredInvitation>, StorageError> {
    const address = invitedAddress(user)
    if (address === undefined || Option.isNone(yield* accounts.lockOrganization(org_id))) return Option.none()
    const now = yield* DateTime.now
    return Option.filter(
      yield* invitations.lock(org_id, id),
      (it) => it.email === address && it.statusAt(now) === "pending"
    )
  })

/** The inviter, if they could still make the invitation; otherwise it is not accepted (docs/design/api.md A13). */
const inviterOf = (accounts: AccountStore["Service"]) =>
  Effect.fnUntraced(function* ({ invited_by, org_id, role }: StoredInvitation) {
    const membership = Option.getOrUndefined(yield* accounts.findMembership(org_id, invited_by.id))
    const person = Option.getOrUndefined(yield* accounts.findUser(invited_by.id))
    const { covers } = yield* Roles
    const may =
      membership !== undefined &&
      person?.disabled_at === null &&
      covers(membership.role, "admin") &&
      covers(membership.role, role) &&
      (role !== "owner" || membership.role === "owner")
    return may ? person : undefined
  })

/**
 * Accepts an invitation that `lockOwnInvitation` answered. `None`, without an effect: its inviter could no longer make
 * it. A member keeps the role that they have.
 *
 * `landing`: a first sign-in accepts it, not the person. The membership names the inviter until the person confirms it.
 */
export const acceptInvitation = (accounts: AccountStore["Service"], invitations: InvitationStore["Service"]) => {
  const inviter = inviterOf(accounts)
  return Effect.fnUntraced(function* (
    user: Pick<User, "id">,
    invitation: StoredInvitation,
    by: "landing" | "person"
  ): Effect.fn.Return<Option.Option<Membership>, StorageError> {
    const person = yield* inviter(invitation)
    if (person === undefined) return Option.none()
    const now = yield* DateTime.now
    yield* invitations.update(new StoredInvitation({ ...invitation, accepted_at: now }))
    const { org_id, role } = invitation
    const existing = yield* accounts.findMembership(org_id, user.id)
    if (Option.isSome(existing)) return existing
    const { email, id, name } = person
    const invited_by = by === "landing" ? new UserProfile({ id, email, name }) : null
    const joined = new Membership({ org_id, user_id: user.id, role, joined_at: now, invited_by })
    yield* accounts.putMembership(joined)
    return Option.some(joined)
  })
}

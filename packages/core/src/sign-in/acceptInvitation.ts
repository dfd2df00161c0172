/**
 * Turns one invitation into a membership, inside the running transaction.
 *
 * The organization is locked before the invitation, as by every change of its members and by its end. So an invitation
 * is accepted before the organization ends, and the end removes the membership, or the invitation is gone.
 *
 * Pitfall: trusting the invitation that was read to find the organization. The row under both locks is authoritative.
 */
import { DateTime, Effect, Option } from "effect"
import type { AccountStore } from "../accounts/AccountStore.ts"
import { normalizeEmail } from "../accounts/EmailAddress.ts"
import { StoredInvitation } from "../accounts/Invitation.ts"
import type { InvitationStore } from "../accounts/InvitationStore.ts"
import { Membership } from "../accounts/Membership.ts"
import type { User } from "../accounts/User.ts"
import { coversRole } from "../authorization/Permission.ts"
import type { StorageError } from "../StorageError.ts"

/** The normalized address by which a user is invited; `undefined`: none is verified. */
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

/**
 * Accepts an invitation that `lockOwnInvitation` answered. `false`: its inviter could no longer make it, so it is
 * revoked instead (docs/design/api.md, Organizations). A member keeps the role that they have.
 */
export const acceptInvitation = (accounts: AccountStore["Service"], invitations: InvitationStore["Service"]) => {
  const stillGiven = Effect.fnUntraced(function* (invitation: StoredInvitation) {
    const inviter = Option.getOrUndefined(yield* accounts.findMembership(invitation.org_id, invitation.invited_by.id))
    const person = Option.getOrUndefined(yield* accounts.findUser(invitation.invited_by.id))
    return (
      inviter !== undefined &&
      person?.disabled_at === null &&
      coversRole(inviter.role, "admin") &&
      coversRole(inviter.role, invitation.role) &&
      (invitation.role !== "owner" || inviter.role === "owner")
    )
  })
  return Effect.fnUntraced(function* (
    user: Pick<User, "id">,
    invitation: StoredInvitation
  ): Effect.fn.Return<boolean, StorageError> {
    const now = yield* DateTime.now
    const given = yield* stillGiven(invitation)
    yield* invitations.update(
      new StoredInvitation({ ...invitation, ...(given ? { accepted_at: now } : { revoked_at: now }) })
    )
    if (given && Option.isNone(yield* accounts.findMembership(invitation.org_id, user.id)))
      yield* accounts.putMembership(
        new Membership({ org_id: invitation.org_id, user_id: user.id, role: invitation.role, joined_at: now })
      )
    return given
  })
}

/**
 * From a verified identity to an account: the user's row, the personal organization, and the one pending invitation.
 *
 * The steps run inside the exchange's transaction. The sign-in allowlist is checked before anything is written: an
 * address that is not on it leaves no row (docs/design/identity.md I15, I18).
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { makeUserId, type OrgId } from "../../Ids.ts"
import { AccessPolicy, maySignIn } from "../../records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { InvitationStore } from "../../records/accounts/InvitationStore.ts"
import { Membership } from "../../records/accounts/Membership.ts"
import { Organization, personalOrgId } from "../../records/accounts/Organization.ts"
import { User } from "../../records/accounts/User.ts"
import { AuditLog } from "../../records/audit/AuditLog.ts"
import { actorOfUser, noteAct } from "../../records/audit/noteAct.ts"
import type { StorageError } from "../../StorageError.ts"
import { acceptInvitation, invitedAddress, lockOwnInvitation } from "./acceptInvitation.ts"
import type { VerifiedIdentity } from "./IdentityProvider.ts"
import { InvalidIdToken } from "./IdentityProvider.ts"

/** A sign-in allowlist is configured, and the account is not on it. */
export class EmailNotAllowed extends Schema.TaggedError<EmailNotAllowed>()("EmailNotAllowed", {}) {
  override get message() {
    return "This address is not on the sign-in allowlist. Ask the operator to add it."
  }
}

/** How many invitations are tried: one cannot be accepted whose inviter has lost the right to invite. */
const mostTried = 20

export interface SignedIn {
  readonly user: User
  /**
   * The organization in which the session starts: the one whose invitation the first sign-in accepted, until the user has
   * confirmed or left it. Otherwise the personal one.
   */
  readonly landing: OrgId
}

export class SignIn extends Context.Service<
  SignIn,
  {
    /**
     * Finds or makes the account. Run it in a transaction. A disabled account is refused like a token that is not
     * valid.
     */
    readonly enter: (
      identity: VerifiedIdentity
    ) => Effect.Effect<SignedIn, EmailNotAllowed | InvalidIdToken | StorageError>
  }
>()("@narthex/core/services/sign-in/SignIn") {
  static readonly layer: Layer.Layer<SignIn, never, AccountStore | AuditLog | InvitationStore> = Layer.effect(
    SignIn,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const invitations = yield* InvitationStore
      const note = noteAct(yield* AuditLog)
      const lockPending = lockOwnInvitation(accounts, invitations)
      const accept = acceptInvitation(accounts, invitations)

      const makePersonal = Effect.fnUntraced(function* (user: User) {
        const now = yield* DateTime.now
        const id = personalOrgId(user.id)
        const name = personalName(user)
        yield* accounts.putOrganization(
          new Organization({ id, name, personal: true, created_at: now, updated_at: now })
        )
        yield* accounts.putMembership(new Membership({ org_id: id, user_id: user.id, role: "owner", joined_at: now }))
        return id
      })

      /**
       * Joins the organization of the oldest invitation that can be accepted at a first sign-in. The others stay pending: any
       * stranger can send one, so the person chooses (docs/design/identity.md I48).
       */
      const joinOldest = Effect.fnUntraced(function* (user: User) {
        const address = invitedAddress(user)
        if (address === undefined) return undefined
        for (const invitation of yield* invitations.oldestFor(address, yield* DateTime.now, mostTried)) {
          const pending = yield* lockPending(user, invitation)
          if (Option.isNone(pending)) continue
          const joined = yield* accept(user, pending.value, "landing")
          if (Option.isNone(joined)) continue
          const { org_id } = joined.value
          const targets = [{ type: "invitation", id: invitation.id }]
          yield* note({ org_id, action: "invitation.accepted", actor: actorOfUser(user), targets })
          return org_id
        }
        return undefined
      })

      const first = Effect.fnUntraced(function* (identity: VerifiedIdentity) {
        const settings = yield* AccessPolicy
        const now = yield* DateTime.now
        const user = new User({
          id: yield* makeUserId,
          ...known(identity),
          issuer: identity.issuer,
          subject: identity.subject,
          created_at: now,
          enabled_at: settings.open_signup ? now : null,
          disabled_at: null
        })
        if (!(yield* accounts.putUser(user))) return Option.none()
        const personal = yield* makePersonal(user)
        const joined = yield* joinOldest(user)
        const bypasses = joined !== undefined && settings.invitations_bypass_gate
        const entered = bypasses ? new User({ ...user, enabled_at: now }) : user
        if (bypasses) yield* accounts.putUser(entered)
        return Option.some({ user: entered, landing: joined ?? personal })
      })

      const again = Effect.fnUntraced(function* (stored: User, identity: VerifiedIdentity) {
        if (stored.disabled_at !== null) return yield* new InvalidIdToken({ cause: "the account is disabled" })
        const user = new User({ ...stored, ...known(identity) })
        yield* accounts.putUser(user)
        // A client that missed the answer of the first exchange exchanges again, and still lands where it led.
        const landed = yield* accounts.landingOf(user.id)
        return { user, landing: Option.getOrElse(landed, () => personalOrgId(user.id)) }
      })

      return SignIn.of({
        enter: Effect.fn("SignIn.enter")(function* (identity) {
          if (!maySignIn(yield* AccessPolicy, identity)) return yield* new EmailNotAllowed({})
          const stored = yield* accounts.lockUserByIdentity(identity.issuer, identity.subject)
          if (Option.isSome(stored)) return yield* again(stored.value, identity)
          const made = yield* first(identity)
          if (Option.isSome(made)) return made.value
          // A concurrent exchange of the same identity has inserted the row and committed.
          const theirs = yield* accounts.lockUserByIdentity(identity.issuer, identity.subject)
          return Option.isSome(theirs)
            ? yield* again(theirs.value, identity)
            : yield* new InvalidIdToken({ cause: "the account could not be made" })
        })
      })
    })
  )
}

const known = ({ email, email_verified, name }: VerifiedIdentity) => ({ email, email_verified, name })

/** The name of a personal organization until its user renames it. */
const personalName = (user: User): string => {
  const whose = (user.name ?? user.email ?? "").replace(/\p{Cc}/gu, "").trim()
  return whose === "" ? "Personal" : `${[...whose].slice(0, 100).join("")}'s organization`
}

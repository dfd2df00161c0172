/**
 * A person's own invitations: listed, accepted, declined (docs/design/api.md, Organizations).
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { InvitationId, requestedId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { Conflict, type NotFound, orNotFound } from "../../Refusals.ts"
import { AccessPolicy } from "../../records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { type OwnInvitation, StoredInvitation } from "../../records/accounts/Invitation.ts"
import { InvitationStore } from "../../records/accounts/InvitationStore.ts"
import { OrganizationView } from "../../records/accounts/Organization.ts"
import { User } from "../../records/accounts/User.ts"
import { actsIn, actsOn } from "../../records/audit/RunningAct.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { acceptInvitation, invitedAddress, lockOwnInvitation } from "../sign-in/acceptInvitation.ts"

export class OwnInvitations extends Context.Service<
  OwnInvitations,
  {
    /** The pending invitations of the caller's verified address, newest first. */
    readonly list: (caller: AnyCaller, page: PageRequest) => Effect.Effect<Page<OwnInvitation>, StorageError>
    /**
     * Makes the caller a member. `NotFound`: it is not pending for the caller's verified address. `Conflict`, without
     * an effect: its inviter could no longer make it.
     */
    readonly accept: (
      caller: AnyCaller,
      invitation: InvitationId
    ) => Effect.Effect<OrganizationView, Conflict | NotFound | StorageError>
    /** Ends the invitation. */
    readonly decline: (caller: AnyCaller, invitation: InvitationId) => Effect.Effect<void, NotFound | StorageError>
  }
>()("@narthex/core/services/organizations/OwnInvitations") {
  static readonly layer: Layer.Layer<OwnInvitations, never, AccountStore | InvitationStore | Transaction> =
    Layer.effect(
      OwnInvitations,
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const store = yield* InvitationStore
        const { run } = yield* Transaction
        const lockPending = lockOwnInvitation(accounts, store)
        const join = acceptInvitation(accounts, store)

        const list: OwnInvitations["Service"]["list"] = Effect.fn("OwnInvitations.list")(function* (caller, page) {
          const address = invitedAddress(caller.user)
          if (address === undefined) return { items: [], next_cursor: null }
          return yield* store.pendingFor(address, yield* DateTime.now, page)
        })

        /** The caller's pending invitation, locked with its organization. */
        const locked = Effect.fnUntraced(function* (caller: AnyCaller, id: InvitationId) {
          const found = yield* orNotFound(store.find(requestedId(InvitationId, id)))
          const invitation = yield* orNotFound(lockPending(caller.user, found))
          yield* actsIn(invitation.org_id)
          yield* actsOn(invitation.id, invitation.email)
          return invitation
        })

        /** An invitation enables a pending account, if the operator allows it (docs/design/identity.md I18). */
        const enable = Effect.fnUntraced(function* ({ enabled_at, issuer, subject }: User) {
          const { invitations_bypass_gate } = yield* AccessPolicy
          if (enabled_at !== null || !invitations_bypass_gate) return
          const user = Option.getOrUndefined(yield* accounts.lockUserByIdentity(issuer, subject))
          if (user?.enabled_at === null) yield* accounts.putUser(new User({ ...user, enabled_at: yield* DateTime.now }))
        })

        const accept: OwnInvitations["Service"]["accept"] = Effect.fn("OwnInvitations.accept")(function* (caller, id) {
          const step = Effect.gen(function* () {
            const invitation = yield* locked(caller, id)
            const organization = yield* orNotFound(accounts.findOrganization(invitation.org_id))
            const joined = yield* join(caller.user, invitation, "person")
            if (Option.isNone(joined))
              return yield* new Conflict({
                reason: "The person who invited you may no longer invite with this role. Ask for a new invitation."
              })
            yield* enable(caller.user)
            return new OrganizationView({ ...organization, role: joined.value.role })
          })
          return yield* run(step)
        })

        const decline: OwnInvitations["Service"]["decline"] = Effect.fn("OwnInvitations.decline")(
          function* (caller, id) {
            const step = Effect.gen(function* () {
              const invitation = yield* locked(caller, id)
              yield* store.update(new StoredInvitation({ ...invitation, revoked_at: yield* DateTime.now }))
            })
            yield* run(step)
          }
        )

        return OwnInvitations.of({ list, accept, decline })
      })
    )
}

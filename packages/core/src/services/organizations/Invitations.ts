/**
 * Invitations into an organization: created, resent, revoked. The invited person accepts them (`OwnInvitations`); a
 * first sign-in accepts the only one (`SignIn`).
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { InvitationId, makeInvitationId, type OrgId, requestedId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { Conflict, InvalidMember, NotFound, orNotFound, type Refused } from "../../Refusals.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { normalizeEmail } from "../../records/accounts/EmailAddress.ts"
import { Invitation, invitationDays, StoredInvitation } from "../../records/accounts/Invitation.ts"
import { InvitationStore } from "../../records/accounts/InvitationStore.ts"
import { actsOn } from "../../records/audit/RunningAct.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { checkRoleChange, requireRole } from "../../rules/organizations/roleChange.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { lockedOrganization } from "./lockedOrganization.ts"

export class Invitations extends Context.Service<
  Invitations,
  {
    /** Newest first. */
    readonly list: (org: OrgId, page: PageRequest) => Effect.Effect<Page<Invitation>, StorageError>
    /** `Conflict` when one of this address is pending. */
    readonly create: (
      caller: AnyCaller,
      wanted: { readonly email: string; readonly role: string }
    ) => Effect.Effect<Invitation, Conflict | InvalidMember | NotFound | QuotaExceeded | Refused | StorageError>
    /** Restarts its days. `Conflict` when it is not pending. */
    readonly resend: (
      caller: AnyCaller,
      invitation: InvitationId
    ) => Effect.Effect<Invitation, Conflict | NotFound | Refused | StorageError>
    /** `NotFound` when it was revoked before. */
    readonly revoke: (
      caller: AnyCaller,
      invitation: InvitationId
    ) => Effect.Effect<void, Conflict | NotFound | Refused | StorageError>
  }
>()("@narthex/core/services/organizations/Invitations") {
  static readonly layer: Layer.Layer<Invitations, never, AccountStore | InvitationStore | Quotas | Transaction> =
    Layer.effect(
      Invitations,
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const quotas = yield* Quotas
        const store = yield* InvitationStore
        const { run } = yield* Transaction
        const locked = lockedOrganization(accounts)

        const view = (invitation: StoredInvitation, now: DateTime.Utc) =>
          new Invitation({ ...invitation, status: invitation.statusAt(now) })

        const list = Effect.fn("Invitations.list")(function* (org: OrgId, page: PageRequest) {
          const now = yield* DateTime.now
          const { items, next_cursor } = yield* store.list(org, page)
          return { items: items.map((invitation) => view(invitation, now)), next_cursor }
        })

        const create: Invitations["Service"]["create"] = Effect.fn("Invitations.create")(function* (
          admitted,
          { email, role }
        ) {
          const address = normalizeEmail(email.trim())
          if (address === undefined)
            return yield* new InvalidMember({ path: ["email"], reason: "This is not a mail address." })
          yield* requireRole(role)
          yield* checkRoleChange(admitted, { from: null, to: role })
          const step = Effect.gen(function* () {
            const { caller } = yield* locked(admitted, "manage_invitations")
            yield* checkRoleChange(caller, { from: null, to: role })
            // A pending invitation takes the place of the member that it may become, so that accepting it never fails.
            yield* quotas.take(caller.org_id, { invitations: 1, members: 1 })
            const now = yield* DateTime.now
            const invitation = new StoredInvitation({
              id: yield* makeInvitationId,
              org_id: caller.org_id,
              email: address,
              role,
              invited_by: caller.user.ref,
              created_at: now,
              expires_at: DateTime.addDuration(now, Duration.days(invitationDays)),
              accepted_at: null,
              revoked_at: null
            })
            if (!(yield* store.add(invitation, now)))
              return yield* new Conflict({ reason: "An invitation of this address is pending. Resend or revoke it." })
            return view(invitation, now)
          })
          return yield* run(step)
        })

        /** The invitation under its lock, if it is pending and the caller may grant its role. */
        const pending = Effect.fnUntraced(function* (caller: AnyCaller, id: InvitationId, now: DateTime.Utc) {
          const invitation = yield* orNotFound(store.lock(caller.org_id, requestedId(InvitationId, id)))
          yield* checkRoleChange(caller, { from: null, to: invitation.role })
          const status = invitation.statusAt(now)
          yield* actsOn(id, invitation.email)
          if (status === "pending") return invitation
          if (status === "revoked") return yield* new NotFound({})
          return yield* new Conflict({ reason: `The invitation is ${status}. Make a new one.` })
        })

        const resend: Invitations["Service"]["resend"] = Effect.fn("Invitations.resend")(function* (caller, id) {
          const step = Effect.gen(function* () {
            const now = yield* DateTime.now
            const invitation = new StoredInvitation({
              ...(yield* pending(caller, id, now)),
              expires_at: DateTime.addDuration(now, Duration.days(invitationDays))
            })
            yield* store.update(invitation)
            return view(invitation, now)
          })
          return yield* run(step)
        })

        const revoke: Invitations["Service"]["revoke"] = Effect.fn("Invitations.revoke")(function* (caller, id) {
          const step = Effect.gen(function* () {
            const now = yield* DateTime.now
            const invitation = yield* pending(caller, id, now)
            yield* store.update(new StoredInvitation({ ...invitation, revoked_at: now }))
          })
          yield* run(step)
        })

        return Invitations.of({ list, create, resend, revoke })
      })
    )
}

/**
 * Invitations into an organization: created, resent, revoked. `SignIn` accepts them when the invited person signs in.
 */
import { Context, DateTime, Duration, Effect, Layer } from "effect"
import { normalizeEmail } from "../accounts/EmailAddress.ts"
import { Invitation, invitationDays, StoredInvitation } from "../accounts/Invitation.ts"
import { InvitationStore } from "../accounts/InvitationStore.ts"
import { isKnownRole } from "../authorization/Permission.ts"
import type { AnyCaller } from "../authorization/Principal.ts"
import { type InvitationId, makeInvitationId, type OrgId } from "../Ids.ts"
import { Conflict, InvalidMember, type NotFound, orNotFound, type Refused } from "../Refusals.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"
import { checkRoleChange } from "./roleChange.ts"

export class Invitations extends Context.Service<
  Invitations,
  {
    /** Newest first, all of them. */
    readonly list: (org: OrgId) => Effect.Effect<ReadonlyArray<Invitation>, StorageError>
    readonly create: (
      caller: AnyCaller,
      wanted: { readonly email: string; readonly role: string }
    ) => Effect.Effect<Invitation, Conflict | InvalidMember | Refused | StorageError>
    /** Restarts its days. `Conflict` when it is not pending. */
    readonly resend: (
      caller: AnyCaller,
      invitation: InvitationId
    ) => Effect.Effect<Invitation, Conflict | NotFound | Refused | StorageError>
    readonly revoke: (
      caller: AnyCaller,
      invitation: InvitationId
    ) => Effect.Effect<void, Conflict | NotFound | Refused | StorageError>
  }
>()("@narthex/core/organizations/Invitations") {
  static readonly layer: Layer.Layer<Invitations, never, InvitationStore | Transaction> = Layer.effect(
    Invitations,
    Effect.gen(function* () {
      const store = yield* InvitationStore
      const { run } = yield* Transaction

      const view = (invitation: StoredInvitation, now: DateTime.Utc) =>
        new Invitation({ ...invitation, status: invitation.statusAt(now) })

      const list = Effect.fn("Invitations.list")(function* (org: OrgId) {
        const now = yield* DateTime.now
        return (yield* store.list(org)).map((invitation) => view(invitation, now))
      })

      const create: Invitations["Service"]["create"] = Effect.fn("Invitations.create")(function* (
        caller,
        { email, role }
      ) {
        const address = normalizeEmail(email.trim())
        if (address === undefined)
          return yield* new InvalidMember({ path: ["email"], reason: "This is not a mail address." })
        if (!isKnownRole(role))
          return yield* new InvalidMember({ path: ["role"], reason: `There is no role "${role}".` })
        yield* checkRoleChange(caller, { from: null, to: role })
        const step = Effect.gen(function* () {
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
        const invitation = yield* orNotFound(store.lock(caller.org_id, id))
        yield* checkRoleChange(caller, { from: null, to: invitation.role })
        const status = invitation.statusAt(now)
        if (status === "pending") return invitation
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

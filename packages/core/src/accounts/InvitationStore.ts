/**
 * Port: invitations. Pending ones are unique per organization and address; whether one is pending depends on the clock.
 */
import { Context, type DateTime, Effect, Layer, Option } from "effect"
import type { InvitationId, OrgId } from "../Ids.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { StorageError } from "../StorageError.ts"
import type { StoredInvitation } from "./Invitation.ts"

export class InvitationStore extends Context.Service<
  InvitationStore,
  {
    /** Locks the row. `None` for an invitation of another organization. */
    readonly lock: (
      org: OrgId,
      invitation: InvitationId
    ) => Effect.Effect<Option.Option<StoredInvitation>, StorageError>
    /** Adds one, unless one to this address is pending at `now`: then `false`. Atomic under parallel calls. */
    readonly add: (invitation: StoredInvitation, now: DateTime.Utc) => Effect.Effect<boolean, StorageError>
    readonly update: (invitation: StoredInvitation) => Effect.Effect<void, StorageError>
    /** Newest first. */
    readonly list: (org: OrgId) => Effect.Effect<ReadonlyArray<StoredInvitation>, StorageError>
    /** What is pending for a normalized address at `now`, over all organizations, newest first. Locks the rows. */
    readonly lockPendingFor: (
      email: string,
      now: DateTime.Utc
    ) => Effect.Effect<ReadonlyArray<StoredInvitation>, StorageError>
  }
>()("@narthex/core/accounts/InvitationStore") {
  static readonly layerMemory: Layer.Layer<InvitationStore, never, MemoryStorage> = Layer.effect(
    InvitationStore,
    Effect.gen(function* () {
      const invitations = (yield* MemoryStorage).table<StoredInvitation>("invitation")
      const newestFirst = (a: StoredInvitation, b: StoredInvitation) => (a.id < b.id ? 1 : -1)
      return InvitationStore.of({
        lock: (org, id) =>
          Effect.map(
            invitations.get(id),
            Option.filter((row) => row.org_id === org)
          ),
        add: (invitation, now) =>
          invitations.modify((rows) => {
            const waiting = rows.some(
              (row) =>
                row.org_id === invitation.org_id && row.email === invitation.email && row.statusAt(now) === "pending"
            )
            return [!waiting, waiting ? [] : [[invitation.id, invitation]]]
          }),
        update: (invitation) => invitations.put(invitation.id, invitation),
        list: (org) =>
          Effect.map(invitations.all, (rows) => rows.filter((row) => row.org_id === org).toSorted(newestFirst)),
        lockPendingFor: (email, now) =>
          Effect.map(invitations.all, (rows) =>
            rows.filter((row) => row.email === email && row.statusAt(now) === "pending").toSorted(newestFirst)
          )
      })
    })
  )
}

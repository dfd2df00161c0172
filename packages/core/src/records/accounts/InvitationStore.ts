/**
 * Port: invitations. Pending ones are unique per organization and address; whether one is pending depends on the clock.
 */
import { Context, type DateTime, Effect, Layer, Option } from "effect"
import type { InvitationId, OrgId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { OwnInvitation, type StoredInvitation } from "./Invitation.ts"
import type { Organization } from "./Organization.ts"
import { type User, UserProfile } from "./User.ts"

/** Which invitation of which organization. */
export type PendingInvitation = Pick<StoredInvitation, "id" | "org_id">

export class InvitationStore extends Context.Service<
  InvitationStore,
  {
    /** An invitation of any organization. */
    readonly find: (invitation: InvitationId) => Effect.Effect<Option.Option<StoredInvitation>, StorageError>
    /** Locks the row. `None` for an invitation of another organization. */
    readonly lock: (
      org: OrgId,
      invitation: InvitationId
    ) => Effect.Effect<Option.Option<StoredInvitation>, StorageError>
    /** Adds one, unless one to this address is pending at `now`: then `false`. Atomic under parallel calls. */
    readonly add: (invitation: StoredInvitation, now: DateTime.Utc) => Effect.Effect<boolean, StorageError>
    readonly update: (invitation: StoredInvitation) => Effect.Effect<void, StorageError>
    /** Newest first. */
    readonly list: (org: OrgId, page: PageRequest) => Effect.Effect<Page<StoredInvitation>, StorageError>
    /** The invitations of a normalized address that are pending at `now`, over all organizations, newest first. */
    readonly pendingFor: (
      email: string,
      now: DateTime.Utc,
      page: PageRequest
    ) => Effect.Effect<Page<OwnInvitation>, StorageError>
    /** The oldest pending invitations of the address, oldest first, at most `limit`. */
    readonly oldestFor: (
      email: string,
      now: DateTime.Utc,
      limit: number
    ) => Effect.Effect<ReadonlyArray<PendingInvitation>, StorageError>
  }
>()("@narthex/core/records/accounts/InvitationStore") {
  static readonly layerMemory: Layer.Layer<InvitationStore, never, MemoryStorage> = Layer.effect(
    InvitationStore,
    Effect.gen(function* () {
      const { table } = yield* MemoryStorage
      const invitations = table<StoredInvitation>("invitation")
      const organizations = table<Organization>("organization")
      const users = table<User>("user")
      return InvitationStore.of({
        find: invitations.get,
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
        list: (org, page) =>
          Effect.map(invitations.all, (rows) =>
            pageOfAll(
              rows.filter((row) => row.org_id === org),
              page
            )
          ),
        pendingFor: (email, now, page) =>
          Effect.gen(function* () {
            const names = new Map((yield* organizations.all).map(({ id, name }) => [id, name]))
            const people = new Map((yield* users.all).map(({ id, name }) => [id, name]))
            const pending = (yield* invitations.all).filter(
              (row) => row.email === email && row.statusAt(now) === "pending"
            )
            const own = pending.flatMap(({ invited_by, org_id, ...rest }) => {
              const name = names.get(org_id)
              if (name === undefined) return []
              const inviter = new UserProfile({ ...invited_by, name: people.get(invited_by.id) ?? null })
              return [new OwnInvitation({ ...rest, organization: { id: org_id, name }, invited_by: inviter })]
            })
            return pageOfAll(own, page)
          }),
        oldestFor: (email, now, limit) =>
          Effect.gen(function* () {
            const existing = new Set((yield* organizations.all).map(({ id }) => id))
            return (yield* invitations.all)
              .filter((row) => row.email === email && row.statusAt(now) === "pending" && existing.has(row.org_id))
              .toSorted((a, b) => (a.id < b.id ? -1 : 1))
              .slice(0, limit)
              .map(({ id, org_id }) => ({ id, org_id }))
          })
      })
    })
  )
}

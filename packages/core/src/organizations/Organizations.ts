/**
 * Organizations and their members (docs/design/api.md, Organizations).
 *
 * Every change of members locks the organization's row and reads the caller's role again under the lock. So of two
 * owners who demote each other concurrently, only one is demoted.
 *
 * Pitfall: removing a member without their keys. The same transaction revokes their keys in the organization, for good.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { AccountStore } from "../accounts/AccountStore.ts"
import { Member, Membership } from "../accounts/Membership.ts"
import { Organization, OrganizationView, personalOrgId } from "../accounts/Organization.ts"
import { coversRole, type Permission } from "../authorization/Permission.ts"
import type { AnyCaller } from "../authorization/Principal.ts"
import { apiKeyRevoked, membershipRevoked, organizationRevoked } from "../events/InternalEvents.ts"
import { makeOrgId, type OrgId, type UserId } from "../Ids.ts"
import { ApiKeyStore } from "../keys/ApiKeyStore.ts"
import type { Page, PageRequest } from "../Page.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"
import { Conflict, type NotFound, orNotFound, type Refused } from "../Refusals.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"
import { lockedOrganization } from "./lockedOrganization.ts"
import { checkRoleChange } from "./roleChange.ts"

export class Organizations extends Context.Service<
  Organizations,
  {
    /** The caller's memberships, oldest organization first; an organization-wide key sees its own organization. */
    readonly list: (caller: AnyCaller, page: PageRequest) => Effect.Effect<Page<OrganizationView>, StorageError>
    readonly create: (caller: AnyCaller, name: string) => Effect.Effect<OrganizationView, StorageError>
    /** The credential's own organization. */
    readonly read: (caller: AnyCaller) => Effect.Effect<OrganizationView, NotFound | StorageError>
    readonly rename: (
      caller: AnyCaller,
      name: string
    ) => Effect.Effect<OrganizationView, NotFound | Refused | StorageError>
    /** Deletes a team organization that has no projects, with its keys and invitations. */
    readonly remove: (caller: AnyCaller) => Effect.Effect<void, Conflict | NotFound | Refused | StorageError>
    /** The newest account first. */
    readonly members: (org: OrgId, page: PageRequest) => Effect.Effect<Page<Member>, StorageError>
    readonly changeRole: (
      caller: AnyCaller,
      user: UserId,
      role: string,
      confirmed: boolean
    ) => Effect.Effect<Member, Conflict | NotFound | Refused | StorageError>
    /** Removes a member, or the caller from its own organization. */
    readonly removeMember: (
      caller: AnyCaller,
      user: UserId,
      confirmed: boolean
    ) => Effect.Effect<void, Conflict | NotFound | Refused | StorageError>
  }
>()("@narthex/core/organizations/Organizations") {
  static readonly layer: Layer.Layer<Organizations, never, AccountStore | ApiKeyStore | ProjectStore | Transaction> =
    Layer.effect(
      Organizations,
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const keys = yield* ApiKeyStore
        const projects = yield* ProjectStore
        const locked = lockedOrganization(accounts)
        const { emit, run } = yield* Transaction

        const list: Organizations["Service"]["list"] = Effect.fn("Organizations.list")(function* (caller, page) {
          if (caller.kind === "session") return yield* accounts.organizationsOf(caller.user.id, page)
          const [own, membership] = [
            yield* accounts.findOrganization(caller.org_id),
            yield* accounts.findMembership(caller.org_id, caller.user.id)
          ]
          const views = Option.toArray(
            Option.zipWith(own, membership, (it, { role }) => new OrganizationView({ ...it, role }))
          )
          return { items: page.after === null ? views : [], next_cursor: null }
        })

        const create = Effect.fn("Organizations.create")(function* (caller: AnyCaller, name: string) {
          const now = yield* DateTime.now
          const id = yield* makeOrgId
          const organization = new Organization({
            id,
            name: name.trim(),
            personal: false,
            created_at: now,
            updated_at: now
          })
          const founder = new Membership({ org_id: id, user_id: caller.user.id, role: "owner", joined_at: now })
          yield* run(Effect.andThen(accounts.putOrganization(organization), accounts.putMembership(founder)))
          return new OrganizationView({ ...organization, role: "owner" })
        })

        const viewed = (caller: AnyCaller, organization: Organization) =>
          new OrganizationView({ ...organization, role: caller.organization.role ?? "" })

        const read = Effect.fn("Organizations.read")(function* (caller: AnyCaller) {
          return viewed(caller, yield* orNotFound(accounts.findOrganization(caller.org_id)))
        })

        const rename = Effect.fn("Organizations.rename")(function* (admitted: AnyCaller, name: string) {
          const step = Effect.gen(function* () {
            const { caller, organization } = yield* locked(admitted, "rename_organization")
            const renamed = new Organization({ ...organization, name: name.trim(), updated_at: yield* DateTime.now })
            yield* accounts.putOrganization(renamed)
            return viewed(caller, renamed)
          })
          return yield* run(step)
        })

        const remove = Effect.fn("Organizations.remove")(function* (caller: AnyCaller) {
          const step = Effect.gen(function* () {
            const { organization } = yield* locked(caller, "delete_organization")
            if (organization.personal)
              return yield* new Conflict({ reason: "A personal organization cannot be deleted." })
            const { items } = yield* projects.list(organization.id, null, { limit: 1, after: null })
            if (items.length > 0)
              return yield* new Conflict({ reason: "The organization has projects. Delete them first." })
            for (const id of yield* keys.revokeAll(
              { org_id: organization.id },
              "organization_deleted",
              yield* DateTime.now
            ))
              yield* emit(apiKeyRevoked(organization.id, id))
            yield* accounts.removeOrganization(organization.id)
            yield* emit(organizationRevoked(organization.id))
          })
          yield* run(step)
        })

        /** The member, with the organization locked, and the caller as `locked` answers it. */
        const lockedMember = Effect.fnUntraced(function* (admitted: AnyCaller, user: UserId, permission: Permission) {
          const { caller, organization } = yield* locked(admitted, permission)
          const member = yield* orNotFound(accounts.findMember(organization.id, user))
          const lastOwner = member.role === "owner" && !(yield* accounts.hasOtherOwner(organization.id, user))
          return { caller, member, organization, lastOwner }
        })

        const changeRole: Organizations["Service"]["changeRole"] = Effect.fn("Organizations.changeRole")(
          function* (admitted, user, role, confirmed) {
            const step = Effect.gen(function* () {
              const { caller, lastOwner, member } = yield* lockedMember(admitted, user, "manage_members")
              yield* checkRoleChange(caller, { from: member.role, to: role })
              if (lastOwner && role !== "owner")
                return yield* new Conflict({
                  reason: "The last owner cannot be demoted. Make another member an owner first."
                })
              const lower = !coversRole(role, member.role)
              if (lower && user === caller.user.id && !confirmed) return yield* lockout
              yield* accounts.putMembership(
                new Membership({ org_id: caller.org_id, user_id: user, role, joined_at: member.joined_at })
              )
              if (lower) yield* emit(membershipRevoked(caller.org_id, user))
              return new Member({ ...member, role })
            })
            return yield* run(step)
          }
        )

        const removeMember: Organizations["Service"]["removeMember"] = Effect.fn("Organizations.removeMember")(
          function* (admitted, user, confirmed) {
            const step = Effect.gen(function* () {
              // Every member may leave; removing another member is a separate permission.
              const permission = user === admitted.user.id ? "leave" : "manage_members"
              const { caller, lastOwner, member, organization } = yield* lockedMember(admitted, user, permission)
              if (user !== caller.user.id) yield* checkRoleChange(caller, { from: member.role, to: null })
              if (organization.personal && organization.id === personalOrgId(user))
                return yield* new Conflict({ reason: "You cannot leave your personal organization." })
              if (lastOwner)
                return yield* new Conflict({
                  reason: "The last owner cannot be removed. Make another member an owner first."
                })
              if (user === caller.user.id && !confirmed) return yield* lockout
              yield* accounts.removeMembership(caller.org_id, user)
              const ended = yield* keys.revokeAll(
                { org_id: caller.org_id, user_id: user },
                "membership_ended",
                yield* DateTime.now
              )
              for (const id of ended) yield* emit(apiKeyRevoked(caller.org_id, id))
              yield* emit(membershipRevoked(caller.org_id, user))
            })
            yield* run(step)
          }
        )

        return Organizations.of({
          list,
          create,
          read,
          rename,
          remove,
          members: accounts.members,
          changeRole,
          removeMember
        })
      })
    )
}

const lockout = new Conflict({
  reason: "This would end your own access. Add ?confirm_self_lockout=true to do it anyway."
})

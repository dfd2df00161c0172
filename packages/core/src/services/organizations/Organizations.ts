/**
 * Organizations and their members (docs/design/api.md, Organizations).
 *
 * Every change of members locks the organization's row and reads the caller's role again under the lock. So of two
 * owners who demote each other concurrently, only one is demoted.
 *
 * Pitfall: removing a member without their keys and database credentials. The same transaction revokes both in the
 * organization, for good, keys first: who revokes a key locks it before its roles.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { makeOrgId, type OrgId, type UserId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { Conflict, type InvalidMember, type NotFound, orNotFound, type Refused } from "../../Refusals.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { Member, Membership } from "../../records/accounts/Membership.ts"
import { Organization, OrganizationView, personalOrgId } from "../../records/accounts/Organization.ts"
import { actsIn, actsOn } from "../../records/audit/RunningAct.ts"
import { apiKeyRevoked, membershipRevoked, organizationRevoked } from "../../records/events/InternalEvents.ts"
import type { ApiKey } from "../../records/keys/ApiKey.ts"
import { ApiKeyStore } from "../../records/keys/ApiKeyStore.ts"
import type { CredentialView } from "../../records/projects/BranchRole.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import type { QuotaExceeded, QuotaUsage } from "../../records/quotas/Quota.ts"
import { WebhookStore } from "../../records/webhooks/WebhookStore.ts"
import type { Permission } from "../../rules/authorization/Permission.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { Roles } from "../../rules/authorization/Roles.ts"
import { checkRoleChange, requireRole } from "../../rules/organizations/roleChange.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { Quotas } from "../quotas/Quotas.ts"
import { lockedOrganization } from "./lockedOrganization.ts"

type Needed = AccountStore | ApiKeyStore | BranchRoleStore | ProjectStore | Quotas | Transaction | WebhookStore

/** How many keys and credentials of a member `holdings` shows. */
const shownHoldings = 100

/**
 * The credentials that a removal ends: the newest valid keys and database credentials, at most 100 of each, and their
 * counts.
 */
export interface Holdings {
  readonly api_keys: ReadonlyArray<ApiKey>
  readonly api_keys_count: number
  readonly credentials: ReadonlyArray<CredentialView>
  readonly credentials_count: number
}

export class Organizations extends Context.Service<
  Organizations,
  {
    /** The caller's memberships, oldest organization first; an organization-wide key sees its own organization. */
    readonly list: (caller: AnyCaller, page: PageRequest) => Effect.Effect<Page<OrganizationView>, StorageError>
    readonly create: (caller: AnyCaller, name: string) => Effect.Effect<OrganizationView, QuotaExceeded | StorageError>
    /** The credential's own organization. */
    readonly read: (caller: AnyCaller) => Effect.Effect<OrganizationView, NotFound | StorageError>
    readonly rename: (
      caller: AnyCaller,
      name: string
    ) => Effect.Effect<OrganizationView, NotFound | Refused | StorageError>
    /** Deletes a team organization that has no projects, with its keys, invitations and webhooks. */
    readonly remove: (caller: AnyCaller) => Effect.Effect<void, Conflict | NotFound | Refused | StorageError>
    /** The usage of each quota by the credential's own organization. */
    readonly usage: (caller: AnyCaller) => Effect.Effect<ReadonlyArray<QuotaUsage>, NotFound | StorageError>
    /** The newest account first. */
    readonly members: (org: OrgId, page: PageRequest) => Effect.Effect<Page<Member>, StorageError>
    /** A role that may not mint ends the database credentials of the member: the read-write ones, or all. */
    readonly changeRole: (
      caller: AnyCaller,
      user: UserId,
      role: string,
      confirmed: boolean
    ) => Effect.Effect<Member, Conflict | InvalidMember | NotFound | Refused | StorageError>
    /** The credentials that the removal of a member would end. `Refused`: the caller may not remove the member. */
    readonly holdings: (caller: AnyCaller, user: UserId) => Effect.Effect<Holdings, NotFound | Refused | StorageError>
    /**
     * Removes a member, or the caller from its own organization, with the keys and database credentials of the member.
     * `hand_over_credentials`: the caller takes the database credentials over instead.
     */
    readonly removeMember: (
      caller: AnyCaller,
      user: UserId,
      how: { readonly confirmed: boolean; readonly hand_over_credentials: boolean }
    ) => Effect.Effect<void, Conflict | NotFound | Refused | StorageError>
  }
>()("@narthex/core/services/organizations/Organizations") {
  static readonly layer: Layer.Layer<Organizations, never, Needed> = Layer.effect(
    Organizations,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const keys = yield* ApiKeyStore
      const projects = yield* ProjectStore
      const quotas = yield* Quotas
      const roles = yield* BranchRoleStore
      const webhooks = yield* WebhookStore
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
        const step = Effect.gen(function* () {
          yield* accounts.putOrganization(organization)
          yield* accounts.putMembership(founder)
          yield* quotas.takeOrganization(caller.user.id, id)
          yield* actsIn(id)
        })
        yield* run(step)
        return new OrganizationView({ ...organization, role: "owner" })
      })

      const viewed = (caller: AnyCaller, organization: Organization) =>
        new OrganizationView({ ...organization, role: caller.organization.role ?? "" })

      const read = Effect.fn("Organizations.read")(function* (caller: AnyCaller) {
        return viewed(caller, yield* orNotFound(accounts.findOrganization(caller.org_id)))
      })

      const usage = Effect.fn("Organizations.usage")(function* (caller: AnyCaller) {
        return yield* quotas.usage(yield* orNotFound(accounts.findOrganization(caller.org_id)))
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
          yield* webhooks.removeAll(organization.id)
          yield* accounts.removeOrganization(organization.id)
          yield* emit(organizationRevoked(organization.id))
          yield* actsIn(personalOrgId(caller.user.id))
          yield* actsOn(organization.id, organization.name)
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

      /** Ends the credentials that a member in this role could not mint. */
      const endUnheld = Effect.fnUntraced(function* (org_id: OrgId, user_id: UserId, role: string) {
        const may = (yield* Roles).permissionsOf(role)
        const now = yield* DateTime.now
        if (!may.has("mint_read_only")) yield* roles.revoke({ org_id, user_id }, now)
        else if (!may.has("mint_read_write")) yield* roles.revoke({ org_id, user_id, access: "read_write" }, now)
      })

      const holdings: Organizations["Service"]["holdings"] = Effect.fn("Organizations.holdings")(
        function* (caller, user) {
          const org = caller.org_id
          const { role } = yield* orNotFound(accounts.findMembership(org, user))
          if (user !== caller.user.id) yield* checkRoleChange(caller, { from: role, to: null })
          const now = yield* DateTime.now
          const { items } = yield* keys.list(org, user, now, { limit: shownHoldings, after: null })
          const { count, roles: newest } = yield* roles.ofMember(org, user, now, shownHoldings)
          return {
            api_keys: items,
            api_keys_count: yield* keys.countLive(org, user, now),
            credentials: newest.map((role) => role.viewAt(now)),
            credentials_count: count
          }
        }
      )

      const changeRole: Organizations["Service"]["changeRole"] = Effect.fn("Organizations.changeRole")(
        function* (admitted, user, role, confirmed) {
          yield* requireRole(role)
          const step = Effect.gen(function* () {
            const { caller, lastOwner, member } = yield* lockedMember(admitted, user, "manage_members")
            yield* checkRoleChange(caller, { from: member.role, to: role })
            if (lastOwner && role !== "owner")
              return yield* new Conflict({
                reason: "The last owner cannot be demoted. Make another member an owner first."
              })
            const lower = !(yield* Roles).covers(role, member.role)
            if (lower && user === caller.user.id && !confirmed) return yield* lockout
            const membership = yield* orNotFound(accounts.findMembership(caller.org_id, user))
            yield* accounts.putMembership(new Membership({ ...membership, role }))
            if (lower) yield* endUnheld(caller.org_id, user, role)
            if (lower) yield* emit(membershipRevoked(caller.org_id, user))
            return new Member({ ...member, role })
          })
          return yield* run(step)
        }
      )

      const removeMember: Organizations["Service"]["removeMember"] = Effect.fn("Organizations.removeMember")(function* (
        admitted,
        user,
        { confirmed, hand_over_credentials }
      ) {
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
          if (user === caller.user.id && hand_over_credentials) return yield* handedToOneself
          if (user === caller.user.id && !confirmed) return yield* lockout
          yield* actsOn(user, member.email ?? member.name)
          const now = yield* DateTime.now
          yield* accounts.removeMembership(caller.org_id, user)
          const ended = yield* keys.revokeAll({ org_id: caller.org_id, user_id: user }, "membership_ended", now)
          if (hand_over_credentials) yield* roles.handOver(caller.org_id, user, caller.user.ref, now)
          yield* roles.revoke({ org_id: caller.org_id, user_id: user }, now)
          for (const id of ended) yield* emit(apiKeyRevoked(caller.org_id, id))
          yield* emit(membershipRevoked(caller.org_id, user))
        })
        yield* run(step)
      })

      return Organizations.of({
        list,
        create,
        read,
        usage,
        rename,
        remove,
        members: accounts.members,
        changeRole,
        holdings,
        removeMember
      })
    })
  )
}

const handedToOneself = new Conflict({
  reason: "You cannot hand your credentials over to yourself. Ask an admin to remove you and take them over."
})

const lockout = new Conflict({
  reason: "This would end your own access. Add ?confirm_self_lockout=true to do it anyway."
})

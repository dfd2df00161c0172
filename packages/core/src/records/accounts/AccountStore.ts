/**
 * Port: users, organizations and who belongs to which.
 *
 * Ports below `Transaction` join the running transaction. `lock…` reads a row and
 * makes every other transaction that locks or changes it wait until this one ends; outside of a transaction it is a
 * plain read.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { OrgId, UserId } from "../../Ids.ts"
import { type Page, type PageRequest, pageBy, pageOf } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { asciiLower } from "./EmailAddress.ts"
import type { StoredInvitation } from "./Invitation.ts"
import { Member, type Membership } from "./Membership.ts"
import { type Organization, OrganizationView } from "./Organization.ts"
import type { User } from "./User.ts"

export class AccountStore extends Context.Service<
  AccountStore,
  {
    readonly findUser: (user: UserId) => Effect.Effect<Option.Option<User>, StorageError>
    /** A user is identified by `(issuer, subject)`. Locks the row. */
    readonly lockUserByIdentity: (issuer: string, subject: string) => Effect.Effect<Option.Option<User>, StorageError>
    /** Inserts or replaces; `false` when another transaction inserted the same `(issuer, subject)` first. */
    readonly putUser: (user: User) => Effect.Effect<boolean, StorageError>
    /** Oldest first. */
    readonly users: (page: PageRequest) => Effect.Effect<Page<User>, StorageError>
    /** Users with this address, verified or not, whatever its ASCII case; oldest first, at most 10. */
    readonly usersByEmail: (email: string) => Effect.Effect<ReadonlyArray<User>, StorageError>

    readonly findOrganization: (org: OrgId) => Effect.Effect<Option.Option<Organization>, StorageError>
    /** Locks the organization, which serializes every change of its members. */
    readonly lockOrganization: (org: OrgId) => Effect.Effect<Option.Option<Organization>, StorageError>
    /**
     * As `lockOrganization`, but shared with other holders. Until the transaction ends, no other transaction can lock
     * the organization or end it. A transaction that creates something in an organization holds or locks it.
     */
    readonly holdOrganization: (org: OrgId) => Effect.Effect<Option.Option<Organization>, StorageError>
    readonly putOrganization: (organization: Organization) => Effect.Effect<void, StorageError>
    /** Removes it with its memberships and invitations. */
    readonly removeOrganization: (org: OrgId) => Effect.Effect<void, StorageError>

    readonly findMembership: (org: OrgId, user: UserId) => Effect.Effect<Option.Option<Membership>, StorageError>
    readonly putMembership: (membership: Membership) => Effect.Effect<void, StorageError>
    readonly removeMembership: (org: OrgId, user: UserId) => Effect.Effect<boolean, StorageError>
    /** The newest account first; a position is a user's id. */
    readonly members: (org: OrgId, page: PageRequest) => Effect.Effect<Page<Member>, StorageError>
    readonly findMember: (org: OrgId, user: UserId) => Effect.Effect<Option.Option<Member>, StorageError>
    /** Whether a member other than this user is an owner. */
    readonly hasOtherOwner: (org: OrgId, user: UserId) => Effect.Effect<boolean, StorageError>
    /** The organization that the user's first sign-in led into, while the membership is not confirmed. */
    readonly landingOf: (user: UserId) => Effect.Effect<Option.Option<OrgId>, StorageError>
    /** A user's organizations with the role held there, oldest first. */
    readonly organizationsOf: (user: UserId, page: PageRequest) => Effect.Effect<Page<OrganizationView>, StorageError>
  }
>()("@narthex/core/records/accounts/AccountStore") {
  static readonly layerMemory: Layer.Layer<AccountStore, never, MemoryStorage> = Layer.effect(
    AccountStore,
    Effect.gen(function* () {
      const { table, transaction } = yield* MemoryStorage
      const users = table<User>("user")
      const organizations = table<Organization>("organization")
      const memberships = table<Membership>("membership")
      const invitations = table<StoredInvitation>("invitation")
      const membershipKey = (org: OrgId, user: UserId) => `${org} ${user}`
      const oldestFirst = <Row extends { readonly id: string }>(rows: ReadonlyArray<Row>, page: PageRequest) =>
        pageOf(
          rows.filter((row) => page.after === null || row.id > page.after).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
          page
        )
      const membersOf = (org: OrgId) =>
        Effect.gen(function* () {
          const people = new Map((yield* users.all).map((user) => [user.id, user]))
          return (yield* memberships.all)
            .filter((row) => row.org_id === org)
            .flatMap(({ joined_at, role, user_id }) => {
              const user = people.get(user_id)
              return user === undefined
                ? []
                : [new Member({ user_id, email: user.email, name: user.name, role, joined_at })]
            })
        })

      return AccountStore.of({
        findUser: users.get,
        lockUserByIdentity: (issuer, subject) =>
          Effect.map(users.all, (rows) =>
            Option.fromUndefinedOr(rows.find((user) => user.issuer === issuer && user.subject === subject))
          ),
        putUser: (user) =>
          users.modify((rows) => {
            const taken = rows.some(
              (row) => row.issuer === user.issuer && row.subject === user.subject && row.id !== user.id
            )
            return [!taken, taken ? [] : [[user.id, user]]]
          }),
        users: (page) => Effect.map(users.all, (rows) => oldestFirst(rows, page)),
        usersByEmail: (email) =>
          Effect.map(users.all, (rows) =>
            rows
              .filter((user) => user.email !== null && asciiLower(user.email) === asciiLower(email))
              .toSorted((a, b) => (a.id < b.id ? -1 : 1))
              .slice(0, 10)
          ),
        findOrganization: organizations.get,
        lockOrganization: organizations.get,
        holdOrganization: organizations.get,
        putOrganization: (organization) => organizations.put(organization.id, organization),
        removeOrganization: (org) =>
          transaction(
            Effect.all([
              organizations.remove(org),
              memberships.modify((rows) => [
                undefined,
                rows.filter((row) => row.org_id === org).map((row) => [membershipKey(org, row.user_id), undefined])
              ]),
              invitations.modify((rows) => [
                undefined,
                rows.filter((row) => row.org_id === org).map((row) => [row.id, undefined])
              ])
            ])
          ),
        findMembership: (org, user) => memberships.get(membershipKey(org, user)),
        putMembership: (membership) =>
          memberships.put(membershipKey(membership.org_id, membership.user_id), membership),
        removeMembership: (org, user) =>
          memberships.modify((rows) => [
            rows.some((row) => row.org_id === org && row.user_id === user),
            [[membershipKey(org, user), undefined]]
          ]),
        members: (org, page) =>
          Effect.map(membersOf(org), (rows) =>
            pageBy(
              rows
                .filter((row) => page.after === null || row.user_id < page.after)
                .toSorted((a, b) => (a.user_id < b.user_id ? 1 : -1)),
              page,
              ({ user_id }) => user_id
            )
          ),
        findMember: (org, user) =>
          Effect.map(membersOf(org), (rows) => Option.fromUndefinedOr(rows.find((row) => row.user_id === user))),
        hasOtherOwner: (org, user) =>
          Effect.map(membersOf(org), (rows) => rows.some((row) => row.role === "owner" && row.user_id !== user)),
        landingOf: (user) =>
          Effect.map(memberships.all, (rows) =>
            Option.map(
              Option.fromUndefinedOr(rows.find((row) => row.user_id === user && row.invited_by !== null)),
              ({ org_id }) => org_id
            )
          ),
        organizationsOf: (user, page) =>
          Effect.gen(function* () {
            const roles = new Map(
              (yield* memberships.all).filter((row) => row.user_id === user).map((row) => [row.org_id, row.role])
            )
            const own = (yield* organizations.all).flatMap((organization) => {
              const role = roles.get(organization.id)
              return role === undefined ? [] : [new OrganizationView({ ...organization, role })]
            })
            return oldestFirst(own, page)
          })
      })
    })
  )
}

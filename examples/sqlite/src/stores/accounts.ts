/** Users, organizations, memberships and invitations. */
import {
  AccountStore,
  InvitationStore,
  Member,
  Membership,
  Organization,
  OrganizationView,
  OwnInvitation,
  pageBy,
  pageOf,
  StoredInvitation,
  User,
  UserProfile
} from "@narthex/core"
import { DateTime, Effect, Layer, Option } from "effect"
import { documents } from "../documents.ts"
import { Sqlite } from "../Sqlite.ts"

const pending = "doc ->> 'accepted_at' is null and doc ->> 'revoked_at' is null and doc ->> 'expires_at' > "

const accounts = Effect.gen(function* () {
  const { transaction } = yield* Sqlite
  const users = yield* documents("user", User)
  const organizations = yield* documents("organization", Organization)
  const memberships = yield* documents("membership", Membership)
  const invitations = yield* documents("invitation", StoredInvitation)

  const memberOf = ({ joined_at, role, user_id }: Membership) =>
    Effect.map(
      users.get(user_id),
      Option.map(({ email, name }) => new Member({ user_id, email, name, role, joined_at }))
    )

  return AccountStore.of({
    findUser: users.get,
    lockUserByIdentity: (issuer, subject) =>
      users.one("doc ->> 'issuer' = ?1 and doc ->> 'subject' = ?2", issuer, subject),
    putUser: (user) =>
      transaction(
        Effect.gen(function* () {
          const same = "doc ->> 'issuer' = ?1 and doc ->> 'subject' = ?2 and id <> ?3"
          if (yield* users.exists(same, user.issuer, user.subject, user.id)) return false
          yield* users.put(user.id, user)
          return true
        })
      ),
    users: (page) => Effect.map(users.oldestFirst(page, "true"), (rows) => pageOf(rows, page)),
    usersByEmail: (email) => users.where("lower(doc ->> 'email') = lower(?1) order by id limit 10", email),

    findOrganization: organizations.get,
    lockOrganization: organizations.get,
    holdOrganization: organizations.get,
    putOrganization: (organization) => organizations.put(organization.id, organization),
    removeOrganization: (org) =>
      transaction(
        Effect.gen(function* () {
          yield* organizations.remove("id = ?1", org)
          yield* memberships.remove("doc ->> 'org_id' = ?1", org)
          yield* invitations.remove("doc ->> 'org_id' = ?1", org)
        })
      ),

    findMembership: (org, user) => memberships.get(`${org} ${user}`),
    putMembership: (membership) => memberships.put(`${membership.org_id} ${membership.user_id}`, membership),
    removeMembership: (org, user) => Effect.map(memberships.remove("id = ?1", `${org} ${user}`), (count) => count > 0),
    members: (org, page) =>
      Effect.gen(function* () {
        const newest =
          "doc ->> 'org_id' = ?1 and (?2 is null or doc ->> 'user_id' < ?2) order by doc ->> 'user_id' desc"
        const rows = yield* memberships.where(`${newest} limit ?3`, org, page.after, page.limit + 1)
        const members = yield* Effect.forEach(rows, memberOf)
        return pageBy(members.flatMap(Option.toArray), page, ({ user_id }) => user_id)
      }),
    findMember: (org, user) =>
      Effect.flatMap(
        memberships.get(`${org} ${user}`),
        Option.match({ onNone: () => Effect.succeedNone, onSome: memberOf })
      ),
    hasOtherOwner: (org, user) =>
      memberships.exists("doc ->> 'org_id' = ?1 and doc ->> 'role' = 'owner' and doc ->> 'user_id' <> ?2", org, user),
    landingOf: (user) =>
      Effect.map(
        memberships.one("doc ->> 'user_id' = ?1 and doc ->> 'invited_by' is not null", user),
        Option.map(({ org_id }) => org_id)
      ),
    organizationsOf: (user, page) =>
      Effect.gen(function* () {
        const mine = "id in (select doc ->> 'org_id' from membership where doc ->> 'user_id' = ?1)"
        const rows = yield* organizations.oldestFirst(page, mine, user)
        const views = yield* Effect.forEach(rows, (row) =>
          Effect.map(
            memberships.get(`${row.id} ${user}`),
            Option.map(({ role }) => new OrganizationView({ ...row, role }))
          )
        )
        return pageOf(views.flatMap(Option.toArray), page)
      })
  })
})

const invitations = Effect.gen(function* () {
  const { transaction } = yield* Sqlite
  const invitations = yield* documents("invitation", StoredInvitation)
  const organizations = yield* documents("organization", Organization)
  const users = yield* documents("user", User)

  const own = ({ invited_by, org_id, ...rest }: StoredInvitation) =>
    Effect.gen(function* () {
      const inviter = Option.getOrUndefined(yield* users.get(invited_by.id))
      const profile = new UserProfile({ ...invited_by, name: inviter?.name ?? null })
      return Option.map(
        yield* organizations.get(org_id),
        ({ id, name }) => new OwnInvitation({ ...rest, organization: { id, name }, invited_by: profile })
      )
    })

  return InvitationStore.of({
    find: invitations.get,
    lock: (org, id) =>
      Effect.map(
        invitations.get(id),
        Option.filter((row) => row.org_id === org)
      ),
    add: (invitation, now) =>
      transaction(
        Effect.gen(function* () {
          const { email, id, org_id } = invitation
          const same = `doc ->> 'org_id' = ?1 and doc ->> 'email' = ?2 and ${pending} ?3`
          if (yield* invitations.exists(same, org_id, email, DateTime.formatIso(now))) return false
          yield* invitations.put(id, invitation)
          return true
        })
      ),
    update: (invitation) => invitations.put(invitation.id, invitation),
    list: (org, page) =>
      Effect.map(invitations.newestFirst(page, "doc ->> 'org_id' = ?1", org), (rows) => pageOf(rows, page)),
    pendingFor: (email, now, page) =>
      Effect.gen(function* () {
        const condition = `doc ->> 'email' = ?1 and ${pending} ?2 and doc ->> 'org_id' in (select id from organization)`
        const rows = yield* invitations.newestFirst(page, condition, email, DateTime.formatIso(now))
        const shown = yield* Effect.forEach(rows, own)
        return pageOf(shown.flatMap(Option.toArray), page)
      }),
    oldestFor: (email, now, limit) => {
      const condition = `doc ->> 'email' = ?1 and ${pending} ?2 and doc ->> 'org_id' in (select id from organization)`
      return Effect.map(
        invitations.where(`${condition} order by id limit ?3`, email, DateTime.formatIso(now), limit),
        (rows) => rows.map(({ id, org_id }) => ({ id, org_id }))
      )
    }
  })
})

export const layerAccounts = Layer.merge(
  Layer.effect(AccountStore, accounts),
  Layer.effect(InvitationStore, invitations)
)

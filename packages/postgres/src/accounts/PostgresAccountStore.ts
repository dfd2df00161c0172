/** `AccountStore` on Postgres. */
import { AccountStore, Member, Membership, Organization, OrganizationView, pageBy, pageOf, User } from "@narthex/core"
import { Effect, Layer, Option } from "effect"
import { Database } from "../database/Database.ts"
import { newerThan, olderThan } from "../database/keyset.ts"
import { reading, tableOf } from "../database/tableOf.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const users = tableOf(database, "user_account", User)
  const organizations = tableOf(database, "organization", Organization)
  const memberships = tableOf(database, "membership", Membership)
  const members = reading(database, Member)
  const views = reading(database, OrganizationView)

  return AccountStore.of({
    findUser: (user) =>
      users.first("AccountStore.findUser", "select * from narthex.user_account where id = $1", [user]),
    lockUserByIdentity: (issuer, subject) =>
      users.first(
        "AccountStore.lockUserByIdentity",
        "select * from narthex.user_account where issuer = $1 and subject = $2 for update",
        [issuer, subject]
      ),
    putUser: (user) =>
      Effect.gen(function* () {
        // Waits for a concurrent insert of the same identity to commit, and then inserts nothing.
        const inserted = yield* users.write(
          "AccountStore.putUser",
          user,
          `${users.insertInto} ${users.record("$1")} on conflict do nothing returning id`
        )
        if (inserted.length > 0) return true
        const replaced = yield* users.write(
          "AccountStore.putUser",
          user,
          `update narthex.user_account ${users.setTo("$1")}
           where id = $2 and not exists (
             select 1 from narthex.user_account other where other.issuer = $3 and other.subject = $4 and other.id <> $2)
           returning id`,
          [user.id, user.issuer, user.subject]
        )
        return replaced.length > 0
      }),
    users: (page) =>
      Effect.map(
        users.all("AccountStore.users", "select * from narthex.user_account where id > $1 order by id limit $2", [
          newerThan(page),
          page.limit + 1
        ]),
        (rows) => pageOf(rows, page)
      ),
    usersByEmail: (email) =>
      users.all(
        "AccountStore.usersByEmail",
        `select * from narthex.user_account where lower(email collate "C") = lower($1::text collate "C") order by id limit 10`,
        [email]
      ),

    findOrganization: (org) =>
      organizations.first("AccountStore.findOrganization", "select * from narthex.organization where id = $1", [org]),
    lockOrganization: (org) =>
      organizations.first(
        "AccountStore.lockOrganization",
        "select * from narthex.organization where id = $1 for update",
        [org]
      ),
    holdOrganization: (org) =>
      organizations.first(
        "AccountStore.holdOrganization",
        "select * from narthex.organization where id = $1 for key share",
        [org]
      ),
    putOrganization: (organization) =>
      Effect.asVoid(
        organizations.write(
          "AccountStore.putOrganization",
          organization,
          `${organizations.insertInto} ${organizations.record("$1")}
           on conflict (id) do update ${organizations.setExcluded}`
        )
      ),
    removeOrganization: (org) =>
      // Invitations first: a transaction that accepts one holds its row until it commits the membership, which the next
      // statement then sees (READ COMMITTED).
      database.transaction(
        Effect.forEach(
          [
            "delete from narthex.invitation where org_id = $1",
            "delete from narthex.membership where org_id = $1",
            "delete from narthex.organization where id = $1"
          ],
          (text) => database.query("AccountStore.removeOrganization", text, [org]),
          { discard: true }
        )
      ),

    findMembership: (org, user) =>
      memberships.first(
        "AccountStore.findMembership",
        "select * from narthex.membership where org_id = $1 and user_id = $2",
        [org, user]
      ),
    putMembership: (membership) =>
      Effect.asVoid(
        memberships.write(
          "AccountStore.putMembership",
          membership,
          `${memberships.insertInto} ${memberships.record("$1")}
           on conflict (org_id, user_id) do update ${memberships.setExcluded}`
        )
      ),
    removeMembership: (org, user) =>
      Effect.map(
        database.query(
          "AccountStore.removeMembership",
          "delete from narthex.membership where org_id = $1 and user_id = $2 returning user_id",
          [org, user]
        ),
        (rows) => rows.length > 0
      ),
    members: (org, page) =>
      Effect.map(
        members.all(
          "AccountStore.members",
          `select m.user_id, u.email, u.name, m.role, m.joined_at
           from narthex.membership m join narthex.user_account u on u.id = m.user_id
           where m.org_id = $1 and m.user_id < $2 order by m.user_id desc limit $3`,
          [org, olderThan(page), page.limit + 1]
        ),
        (rows) => pageBy(rows, page, ({ user_id }) => user_id)
      ),
    findMember: (org, user) =>
      members.first(
        "AccountStore.findMember",
        `select m.user_id, u.email, u.name, m.role, m.joined_at
         from narthex.membership m join narthex.user_account u on u.id = m.user_id
         where m.org_id = $1 and m.user_id = $2`,
        [org, user]
      ),
    hasOtherOwner: (org, user) =>
      Effect.map(
        database.query(
          "AccountStore.hasOtherOwner",
          "select 1 from narthex.membership where org_id = $1 and role = 'owner' and user_id <> $2 limit 1",
          [org, user]
        ),
        (rows) => rows.length > 0
      ),
    landingOf: (user) =>
      Effect.map(
        memberships.first(
          "AccountStore.landingOf",
          "select * from narthex.membership where user_id = $1 and invited_by is not null limit 1",
          [user]
        ),
        Option.map(({ org_id }) => org_id)
      ),
    organizationsOf: (user, page) =>
      Effect.map(
        views.all(
          "AccountStore.organizationsOf",
          `select o.*, m.role from narthex.membership m join narthex.organization o on o.id = m.org_id
           where m.user_id = $1 and m.org_id > $2 order by m.org_id limit $3`,
          [user, newerThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      )
  })
})

export const PostgresAccountStore = {
  layer: Layer.effect(AccountStore, make)
}

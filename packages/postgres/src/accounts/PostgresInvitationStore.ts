/** `InvitationStore` on Postgres. */
import { InvitationStore, OwnInvitation, type PendingInvitation, pageOf, StoredInvitation } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { exclusively } from "../database/exclusively.ts"
import { olderThan } from "../database/keyset.ts"
import { reading, tableOf } from "../database/tableOf.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const invitations = tableOf(database, "invitation", StoredInvitation)
  const own = reading(database, OwnInvitation)

  return InvitationStore.of({
    find: (id) => invitations.first("InvitationStore.find", "select * from narthex.invitation where id = $1", [id]),
    lock: (org, id) =>
      invitations.first(
        "InvitationStore.lock",
        "select * from narthex.invitation where id = $1 and org_id = $2 for update",
        [id, org]
      ),
    add: (invitation, now) =>
      exclusively(
        database,
        `invitation ${invitation.org_id} ${invitation.email}`,
        Effect.map(
          invitations.write(
            "InvitationStore.add",
            invitation,
            `${invitations.insertInto} ${invitations.record("$1")}
             where not exists (
               select 1 from narthex.invitation other
               where other.org_id = $2 and other.email = $3 and other.accepted_at is null
                 and other.revoked_at is null and other.expires_at > $4)
             returning id`,
            [invitation.org_id, invitation.email, DateTime.toDateUtc(now)]
          ),
          (rows) => rows.length > 0
        )
      ),
    update: (invitation) =>
      Effect.asVoid(
        invitations.write(
          "InvitationStore.update",
          invitation,
          `update narthex.invitation ${invitations.setTo("$1")} where id = $2`,
          [invitation.id]
        )
      ),
    list: (org, page) =>
      Effect.map(
        invitations.all(
          "InvitationStore.list",
          "select * from narthex.invitation where org_id = $1 and id < $2 order by id desc limit $3",
          [org, olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      ),
    pendingFor: (email, now, page) =>
      Effect.map(
        own.all(
          "InvitationStore.pendingFor",
          `select i.id, jsonb_build_object('id', o.id, 'name', o.name) as organization, i.role,
             i.invited_by || jsonb_build_object('name', u.name) as invited_by, i.created_at, i.expires_at
           from narthex.invitation i
           join narthex.organization o on o.id = i.org_id
           left join narthex.user_account u on u.id = i.invited_by->>'id'
           where i.email = $1 and i.accepted_at is null and i.revoked_at is null and i.expires_at > $2 and i.id < $3
           order by i.id desc limit $4`,
          [email, DateTime.toDateUtc(now), olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      ),
    oldestFor: (email, now, limit) =>
      database.query<PendingInvitation>(
        "InvitationStore.oldestFor",
        `select i.id, i.org_id from narthex.invitation i join narthex.organization o on o.id = i.org_id
         where i.email = $1 and i.accepted_at is null and i.revoked_at is null and i.expires_at > $2
         order by i.id limit $3`,
        [email, DateTime.toDateUtc(now), limit]
      )
  })
})

export const PostgresInvitationStore = {
  layer: Layer.effect(InvitationStore, make)
}

/** `InvitationStore` on Postgres. */
import { InvitationStore, pageOf, StoredInvitation } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { exclusively } from "../database/exclusively.ts"
import { olderThan } from "../database/keyset.ts"
import { tableOf } from "../database/tableOf.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const invitations = tableOf(database, "invitation", StoredInvitation)

  return InvitationStore.of({
    find: (id) => invitations.first("InvitationStore.find", "select * from invitation where id = $1", [id]),
    lock: (org, id) =>
      invitations.first("InvitationStore.lock", "select * from invitation where id = $1 and org_id = $2 for update", [
        id,
        org
      ]),
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
               select 1 from invitation other
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
          `update invitation ${invitations.setTo("$1")} where id = $2`,
          [invitation.id]
        )
      ),
    list: (org, page) =>
      Effect.map(
        invitations.all(
          "InvitationStore.list",
          "select * from invitation where org_id = $1 and id < $2 order by id desc limit $3",
          [org, olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      ),
    countPending: (org, now, atMost) =>
      Effect.map(
        database.query<{ readonly n: number }>(
          "InvitationStore.countPending",
          `select count(*) as n from (
             select 1 from invitation
             where org_id = $1 and accepted_at is null and revoked_at is null and expires_at > $2
             limit $3) pending`,
          [org, DateTime.toDateUtc(now), atMost]
        ),
        ([found]) => found?.n ?? 0
      ),
    pendingFor: (email, now, page) =>
      Effect.map(
        invitations.all(
          "InvitationStore.pendingFor",
          `select * from invitation
           where email = $1 and accepted_at is null and revoked_at is null and expires_at > $2 and id < $3
           order by id desc limit $4`,
          [email, DateTime.toDateUtc(now), olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      )
  })
})

export const PostgresInvitationStore = {
  layer: Layer.effect(InvitationStore, make)
}

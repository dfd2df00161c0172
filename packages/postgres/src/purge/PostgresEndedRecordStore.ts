/** `EndedRecordStore` on Postgres: a statement for each kind, which skips rows that another instance is purging. */
import { EndedRecordStore } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"

const roleEnded = "(r.revoked_at < $1 or r.expires_at < $1)"

/** Kinds of records, each before the kinds that it refers to. $1 is the instant, $2 the limit. */
const kinds: ReadonlyArray<readonly [kind: "operations" | "records", text: string]> = [
  [
    "operations",
    `delete from narthex.operation where id = any (array(
       select o.id from narthex.operation o
       where o.finished_at < $1 and o.status not in ('scheduling', 'running', 'cancelling')
       order by o.finished_at limit $2 for update skip locked))`
  ],
  [
    "records",
    `delete from narthex.branch_role where ctid = any (array(
       select r.ctid from narthex.branch_role r where ${roleEnded} limit $2 for update skip locked))`
  ],
  [
    "records",
    `delete from narthex.api_key where id = any (array(
       select k.id from narthex.api_key k where k.revoked_at < $1 or k.expires_at < $1 limit $2 for update skip locked))`
  ],
  [
    "records",
    `delete from narthex.invitation where id = any (array(
       select i.id from narthex.invitation i where i.accepted_at < $1 or i.revoked_at < $1 or i.expires_at < $1
       limit $2 for update skip locked))`
  ],
  [
    "records",
    `delete from narthex.endpoint where id = any (array(
       select e.id from narthex.endpoint e
       where e.deleted_at < $1
         and not exists (select 1 from narthex.operation o where o.branch_id = e.branch_id and o.endpoint_id = e.id)
       limit $2 for update skip locked))`
  ],
  [
    "records",
    `delete from narthex.branch where id = any (array(
       select b.id from narthex.branch b
       where b.deleted_at < $1
         and not exists (select 1 from narthex.operation o where o.branch_id = b.id)
         and not exists (select 1 from narthex.operation o where o.project_id = b.project_id and o.copies = b.id)
         and not exists (select 1 from narthex.branch_role r where r.branch_id = b.id)
         and not exists (select 1 from narthex.endpoint e where e.branch_id = b.id)
         and not exists (select 1 from narthex.branch c where c.parent_id = b.id)
         and not exists (select 1 from narthex.api_key k where k.scope_branch = b.id)
       limit $2 for update skip locked))`
  ],
  [
    "records",
    `with gone as (
       delete from narthex.project where id = any (array(
         select p.id from narthex.project p
         where p.deleted_at < $1
           and not exists (select 1 from narthex.operation o where o.project_id = p.id)
           and not exists (select 1 from narthex.branch b where b.project_id = p.id)
           and not exists (select 1 from narthex.api_key k where k.scope_project = p.id)
         limit $2 for update skip locked)) returning id
     ), rules as (delete from narthex.ip_rule where project_id in (select id from gone)
     ), lists as (delete from narthex.ip_allowlist where project_id in (select id from gone)) select id from gone`
  ]
]

const make = Effect.gen(function* () {
  const { query } = yield* Database
  return EndedRecordStore.of({
    purge: Effect.fn("EndedRecordStore.purge")(function* (before, limit) {
      let purged = 0
      for (const [kind, text] of kinds) {
        const statement = text.startsWith("with") ? text : `${text} returning 1`
        const params = [DateTime.toDateUtc(before[kind]), limit]
        purged += (yield* query("EndedRecordStore.purge", statement, params)).length
      }
      return purged
    })
  })
})

export const PostgresEndedRecordStore = { layer: Layer.effect(EndedRecordStore, make) }

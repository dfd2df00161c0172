/**
 * `AuditLog` on Postgres. Ids sort by the instant of the act, so the index of an organization's entries bounds pages,
 * the filters `from` and `until`, and the purge.
 */
import { AuditEntry, type AuditFilter, AuditLog, auditIdFrom, pageOf } from "@narthex/core"
import { Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { olderThan } from "../database/keyset.ts"
import { tableOf } from "../database/tableOf.ts"

/** The condition of each filter on its parameter. */
const conditions: Readonly<Record<keyof AuditFilter, (parameter: string) => string>> = {
  action: (it) => `action = ${it}`,
  actor_id: (it) => `(actor->>'id' = ${it} or actor->'user'->>'id' = ${it})`,
  target_id: (it) => `targets @> jsonb_build_array(jsonb_build_object('id', ${it}::text))`,
  outcome: (it) => `outcome = ${it}`,
  from: (it) => `id >= ${it}`,
  until: (it) => `id < ${it}`
}

/** The given filters as conditions, and their parameters from `$first` on. */
const filtered = ({ from, until, ...rest }: AuditFilter, first: number) => {
  const given: Partial<Record<keyof AuditFilter, string>> = {
    ...rest,
    ...(from === undefined ? {} : { from: auditIdFrom(from) }),
    ...(until === undefined ? {} : { until: auditIdFrom(until) })
  }
  // The names are those of the record above.
  const names = Object.keys(given) as ReadonlyArray<keyof AuditFilter>
  return {
    where: names.map((name, n) => ` and ${conditions[name](`$${first + n}`)}`).join(""),
    params: Object.values(given)
  }
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const entries = tableOf(database, "audit_entry", AuditEntry)

  return AuditLog.of({
    append: (entry) =>
      Effect.asVoid(entries.write("AuditLog.append", entry, `${entries.insertInto} ${entries.record("$1")}`)),
    list: (org, filter, page) => {
      const [home, params] = org === null ? ["org_id is null", []] : ["org_id = $3", [org]]
      const more = filtered(filter, 3 + params.length)
      const text = `select * from narthex.audit_entry where ${home} and id < $1${more.where} order by id desc limit $2`
      return Effect.map(
        entries.all("AuditLog.list", text, [olderThan(page), page.limit + 1, ...params, ...more.params]),
        (rows) => pageOf(rows, page)
      )
    },
    purge: (before, limit) =>
      Effect.map(
        database.query(
          "AuditLog.purge",
          `delete from narthex.audit_entry where id = any (array(
             select id from narthex.audit_entry where id < $1 order by id limit $2 for update skip locked)) returning 1`,
          [auditIdFrom(before), limit]
        ),
        (rows) => rows.length
      )
  })
})

export const PostgresAuditLog = { layer: Layer.effect(AuditLog, make) }

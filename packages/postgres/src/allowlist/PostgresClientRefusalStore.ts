/**
 * `ClientRefusalStore` on Postgres. Reports about one project run one after another, so that its rows stay bounded and
 * two proxies never wait for each other's rows.
 */
import {
  ClientRefusal,
  ClientRefusalStore,
  encodeCursor,
  type RefusalNoted,
  type RoleOwner,
  refusalLimits
} from "@narthex/core"
import { DateTime, Effect, Layer, Schema } from "effect"
import { Database } from "../database/Database.ts"
import { lockOf } from "../database/exclusively.ts"
import { olderThan } from "../database/keyset.ts"
import { json, reading } from "../database/tableOf.ts"

const Listed = Schema.Struct({ ...ClientRefusal.fields, position: Schema.String })

const wire = ({ first_at, last_at, ...noted }: RefusalNoted) => ({
  ...noted,
  first_at: DateTime.formatIso(first_at),
  last_at: DateTime.formatIso(last_at)
})

/** The condition on `branch_role r` that the role is this owner's, with its parameter `$4`. */
const ownedBy = (owner: RoleOwner | null): readonly [condition: string, params: ReadonlyArray<string>] => {
  if (owner === null) return ["true", []]
  return "api_key_id" in owner ? ["r.api_key_id = $4", [owner.api_key_id]] : ["r.minter_id = $4", [owner.user_id]]
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const { query, transaction } = database
  const refusals = reading(database, Listed)

  /** Records the number of the report; `false` if it is not higher than the last. Holds the proxy's row. */
  const isNew = (proxy_id: string, sequence: number, now: DateTime.Utc) =>
    Effect.map(
      query(
        "ClientRefusalStore.isNew",
        `insert into narthex.refusal_report as last (proxy_id, sequence, reported_at) values ($1, $2, $3)
         on conflict (proxy_id) do update set sequence = excluded.sequence, reported_at = excluded.reported_at
         where last.sequence < excluded.sequence returning 1`,
        [proxy_id, sequence, DateTime.toDateUtc(now)]
      ),
      (rows) => rows.length > 0
    )

  const lock = (endpoints: ReadonlyArray<string>) =>
    query(
      "ClientRefusalStore.lock",
      `with touched as materialized (
         select distinct project_id from narthex.endpoint where id = any ($1) order by project_id
       )
       select ${lockOf("'client_refusal ' || project_id")} from touched`,
      [endpoints]
    )

  /** Pitfall: leaving the ids of the endpoints to the join. The planner reads every endpoint then. */
  const add = (noted: ReadonlyArray<RefusalNoted>, endpoints: ReadonlyArray<string>) =>
    query(
      "ClientRefusalStore.add",
      `insert into narthex.client_refusal as former
         (endpoint_id, address, project_id, branch_id, role, reason, count, first_at, last_at, position)
       select e.id, it.address, e.project_id, e.branch_id, it.role, it.reason, it.count, it.first_at, it.last_at,
         it.position
       from jsonb_to_recordset($1) as it(endpoint_id text, address text, role text, reason text, count bigint,
         first_at timestamptz, last_at timestamptz, position text)
       join narthex.endpoint e on e.id = it.endpoint_id and e.id = any ($2) and e.deleted_at is null
       on conflict (endpoint_id, address) do update set
         count = former.count + excluded.count, first_at = least(former.first_at, excluded.first_at),
         (role, reason, last_at, position) = (
           select newer.role, newer.reason, newer.last_at, newer.position
           from (values (former.role, former.reason, former.last_at, former.position),
                   (excluded.role, excluded.reason, excluded.last_at, excluded.position))
             as newer(role, reason, last_at, position)
           order by newer.position collate "C" desc limit 1)`,
      [json(noted.map(wire)), endpoints]
    )

  const trim = (endpoints: ReadonlyArray<string>) =>
    query(
      "ClientRefusalStore.trim",
      `delete from narthex.client_refusal where (endpoint_id, address) in (
         select old.endpoint_id, old.address
         from (select distinct project_id from narthex.endpoint where id = any ($1)) as touched,
           lateral (select r.endpoint_id, r.address from narthex.client_refusal r
             where r.project_id = touched.project_id order by r.position desc offset $2) as old)`,
      [endpoints, refusalLimits.kept]
    )

  return ClientRefusalStore.of({
    note: ({ proxy_id, refusals: noted, sequence }, now) =>
      transaction(
        Effect.gen(function* () {
          if (!(yield* isNew(proxy_id, sequence, now))) return
          const endpoints = [...new Set(noted.map(({ endpoint_id }) => endpoint_id))]
          yield* lock(endpoints)
          yield* add(noted, endpoints)
          yield* trim(endpoints)
        })
      ),
    list: Effect.fnUntraced(function* (project, owner, page) {
      const [owned, params] = ownedBy(owner)
      const rows = yield* refusals.all(
        "ClientRefusalStore.list",
        `select f.endpoint_id, f.address, f.branch_id, f.reason, f.count, f.first_at, f.last_at, f.position,
           (select r.role from narthex.branch_role r where r.branch_id = f.branch_id and r.role = f.role and ${owned}) as role
         from narthex.client_refusal f where f.project_id = $1 and f.position < $2 order by f.position desc limit $3`,
        [project, olderThan(page), page.limit + 1, ...params]
      )
      const shown = rows.slice(0, page.limit)
      const last = shown.at(-1)
      return {
        items: shown.map(({ position: _, ...refusal }) => new ClientRefusal(refusal)),
        next_cursor: rows.length > page.limit && last !== undefined ? encodeCursor(last.position) : null
      }
    }),
    purge: (before) =>
      Effect.asVoid(
        query(
          "ClientRefusalStore.purge",
          // A row that a report is changing is skipped: it is no longer old.
          `with silent as (
             delete from narthex.refusal_report where proxy_id = any (array(
               select proxy_id from narthex.refusal_report where reported_at < $1 for update skip locked))
           )
           delete from narthex.client_refusal where ctid = any (array(
             select ctid from narthex.client_refusal where last_at < $1 for update skip locked))`,
          [DateTime.toDateUtc(before)]
        )
      )
  })
})

export const PostgresClientRefusalStore = {
  layer: Layer.effect(ClientRefusalStore, make)
}

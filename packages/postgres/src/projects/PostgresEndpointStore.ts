/** `EndpointStore` on Postgres. */
import { Endpoint, type EndpointId, EndpointStore, type OrgId, pageOf } from "@narthex/core"
import { Array as Arrays, DateTime, Effect, Layer, Option } from "effect"
import { Database } from "../database/Database.ts"
import { exclusively } from "../database/exclusively.ts"
import { olderThan } from "../database/keyset.ts"
import { tableOf } from "../database/tableOf.ts"
import { activityOf } from "./activity.ts"

const make = Effect.gen(function* () {
  const database = yield* Database
  const endpoints = tableOf(database, "endpoint", Endpoint)

  const owned = (operation: string, locking = "") =>
    Effect.fnUntraced(function* (id: EndpointId) {
      const rows = yield* database.query<{ readonly org_id: OrgId }>(
        operation,
        `select e.*, p.org_id from narthex.endpoint e join narthex.project p on p.id = e.project_id
         where e.id = $1 and e.deleted_at is null and p.deleted_at is null ${locking}`,
        [id]
      )
      const found = Arrays.zip(yield* endpoints.decode(operation, rows), rows)
      return Option.map(Arrays.head(found), ([endpoint, { org_id }]) => ({ endpoint, org_id }))
    })

  /** `false`: there is no such row, or it would become another read-write endpoint. */
  const replaced = (endpoint: Endpoint) =>
    Effect.map(
      endpoints.write(
        "EndpointStore.put",
        endpoint,
        `update narthex.endpoint ${endpoints.setTo("$1")}
         where id = $2 and (type = $3 or $3 <> 'read_write' or deleted_at is not null) returning id`,
        [endpoint.id, endpoint.type]
      ),
      (rows) => rows.length > 0
    )

  return EndpointStore.of({
    put: Effect.fnUntraced(function* (endpoint) {
      // Almost always: then no other endpoint of the branch has to be considered.
      if (yield* replaced(endpoint)) return true
      return yield* exclusively(
        database,
        `endpoint ${endpoint.branch_id}`,
        Effect.map(
          endpoints.write(
            "EndpointStore.put",
            endpoint,
            `${endpoints.insertInto} ${endpoints.record("$1")}
             where $4 <> 'read_write'
               or not exists (
                 select 1 from narthex.endpoint other
                 where other.branch_id = $2 and other.id <> $3 and other.type = 'read_write'
                   and other.deleted_at is null)
               or exists (select 1 from narthex.endpoint gone where gone.id = $3 and gone.deleted_at is not null)
             on conflict (id) do update ${endpoints.setExcluded} returning id`,
            [endpoint.branch_id, endpoint.id, endpoint.type]
          ),
          (rows) => rows.length > 0
        )
      )
    }),
    find: (project, endpoint) =>
      endpoints.first(
        "EndpointStore.find",
        "select * from narthex.endpoint where id = $1 and project_id = $2 and deleted_at is null",
        [endpoint, project]
      ),
    findAnywhere: (endpoint) =>
      endpoints.first(
        "EndpointStore.findAnywhere",
        "select * from narthex.endpoint where id = $1 and deleted_at is null",
        [endpoint]
      ),
    lock: (endpoint) =>
      endpoints.first(
        "EndpointStore.lock",
        "select * from narthex.endpoint where id = $1 and deleted_at is null for update",
        [endpoint]
      ),
    findOwned: owned("EndpointStore.findOwned"),
    lockOwned: owned("EndpointStore.lockOwned", "for update of e"),
    markDeleted: (endpoint, now) =>
      Effect.asVoid(
        database.query(
          "EndpointStore.markDeleted",
          "update narthex.endpoint set deleted_at = $2 where id = $1 and deleted_at is null",
          [endpoint, DateTime.toDateUtc(now)]
        )
      ),
    list: (project, branch, page) =>
      Effect.map(
        endpoints.all(
          "EndpointStore.list",
          `select * from narthex.endpoint
           where project_id = $1 and deleted_at is null and ($2::text is null or branch_id = $2) and id < $3
           order by id desc limit $4`,
          [project, branch, olderThan(page), page.limit + 1]
        ),
        (rows) => pageOf(rows, page)
      ),
    ofBranch: (branch) =>
      endpoints.all(
        "EndpointStore.ofBranch",
        "select * from narthex.endpoint where branch_id = $1 and deleted_at is null order by id",
        [branch]
      ),
    active: (region, after, limit) =>
      endpoints.all(
        "EndpointStore.active",
        `select * from narthex.endpoint where current_state = 'active' and deleted_at is null and id > $1
           and ($3::text is null or region_id = $3) order by id limit $2`,
        [after ?? "", limit, region]
      ),
    ...activityOf(database)
  })
})

export const PostgresEndpointStore = {
  layer: Layer.effect(EndpointStore, make)
}

/**
 * `OperationStore` on Postgres.
 *
 * A claim is one statement. It skips rows that another worker has locked. A row that another worker claimed between the
 * snapshot and the lock is evaluated again, no longer matches, and is left alone.
 */
import { OperationStore, pageOf, StoredOperation } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { exclusively } from "../database/exclusively.ts"
import { olderThan } from "../database/keyset.ts"
import { tableOf } from "../database/tableOf.ts"

/** In the words of the partial indexes, so that the planner uses them. */
const isOpen = (row: string) => `${row}.status in ('scheduling', 'running', 'cancelling')`

const make = Effect.gen(function* () {
  const database = yield* Database
  const operations = tableOf(database, "operation", StoredOperation)

  return OperationStore.of({
    insert: (operation) => {
      const insert = Effect.asVoid(
        operations.write("OperationStore.insert", operation, `${operations.insertInto} ${operations.record("$1")}`)
      )
      // A position is assigned before the commit. Inserts on a branch are serialized: otherwise a later operation could
      // become visible, and run, first.
      return operation.branch_id === null ? insert : exclusively(database, `operation ${operation.branch_id}`, insert)
    },
    find: (operation) => operations.first("OperationStore.find", "select * from operation where id = $1", [operation]),
    lock: (operation) =>
      operations.first("OperationStore.lock", "select * from operation where id = $1 for update", [operation]),
    update: (operation) =>
      Effect.asVoid(
        operations.write(
          "OperationStore.update",
          operation,
          `update operation ${operations.setTo("$1")} where id = $2`,
          [operation.id]
        )
      ),
    claim: ({ lease_until, now, worker }) =>
      operations.first(
        "OperationStore.claim",
        `with due as (
           select o.id from operation o
           where ${isOpen("o")} and (o.lease_until is null or o.lease_until <= $2)
             and (o.retry_at is null or o.retry_at <= $2)
             and not exists (
               select 1 from operation earlier
               where earlier.branch_id = o.branch_id and earlier.position < o.position and ${isOpen("earlier")})
           order by o.position limit 1 for update skip locked
         )
         update operation o set lease_owner = $1, lease_until = $3 from due where o.id = due.id returning o.*`,
        [worker, DateTime.toDateUtc(now), DateTime.toDateUtc(lease_until)]
      ),
    extend: (operation, { lease_until, worker }) =>
      Effect.map(
        database.query(
          "OperationStore.extend",
          `update operation o set lease_until = $3
           where o.id = $1 and o.lease_owner = $2 and ${isOpen("o")} returning o.id`,
          [operation, worker, DateTime.toDateUtc(lease_until)]
        ),
        (rows) => rows.length > 0
      ),
    list: (project, branch, page) =>
      Effect.map(
        operations.all(
          "OperationStore.list",
          // Operations are never deleted, so those of one branch have their own index.
          `select * from operation
           where project_id = $1 and id < $2 ${branch === null ? "" : "and branch_id = $4"}
           order by id desc limit $3`,
          [project, olderThan(page), page.limit + 1, ...(branch === null ? [] : [branch])]
        ),
        (rows) => pageOf(rows, page)
      ),
    unfinished: (branch) =>
      operations.all(
        "OperationStore.unfinished",
        `select o.* from operation o where o.branch_id = $1 and ${isOpen("o")} order by o.position`,
        [branch]
      )
  })
})

export const PostgresOperationStore = {
  layer: Layer.effect(OperationStore, make)
}

/**
 * `OperationStore` on Postgres.
 *
 * A claim is one statement, the function `operation_claim_in` (migrations 0018b and 0019). It skips rows that another
 * transaction has locked. Claims of a class run one after another, so that no limit is exceeded; none waits for a client.
 */
import { mostUnfinished, OperationStore, pageOf, StoredOperation } from "@narthex/core"
import { DateTime, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { olderThan } from "../database/keyset.ts"
import { tableOf } from "../database/tableOf.ts"

/** In the words of the partial indexes, so that the planner uses them. */
const isOpen = (row: string) => `${row}.status in ('scheduling', 'running', 'cancelling')`

/**
 * For how long a transaction may be idle after a claim, in milliseconds. Claims of the class wait for it, so that a process
 * that stops right there would stop them all.
 */
const idleAfterClaim = "5000"

/** Waits for the lock of branch `$2` before anything else of the statement. */
const onceAlone = "(select pg_advisory_xact_lock(hashtextextended($2, 0))::text as held offset 0) as branch"

/** The operation is $1, and the claim of worker $2 with fence $3 is its latest. */
const isHeld = (row: string) => `${row}.id = $1 and ${row}.lease_owner = $2 and ${row}.fence = $3 and ${isOpen(row)}`

const make = Effect.gen(function* () {
  const database = yield* Database
  const operations = tableOf(database, "operation", StoredOperation)

  return OperationStore.of({
    insert: (operation) => {
      const insert = `${operations.insertInto} ${operations.record("$1")}`
      const alone = [`operation ${operation.branch_id}`]
      // A position is assigned before the commit. Inserts on a branch are serialized: otherwise a later operation could
      // become visible, and run, first.
      return Effect.asVoid(
        operation.branch_id === null
          ? operations.write("OperationStore.insert", operation, insert)
          : operations.write(
              "OperationStore.insert",
              operation,
              `${insert} cross join ${onceAlone} where branch.held is not null`,
              alone
            )
      )
    },
    find: (operation) => operations.first("OperationStore.find", "select * from operation where id = $1", [operation]),
    lock: (operation) =>
      operations.first("OperationStore.lock", "select * from operation where id = $1 for update", [operation]),
    lockFree: (operation) =>
      operations.first("OperationStore.lockFree", "select * from operation where id = $1 for update skip locked", [
        operation
      ]),
    update: (operation) =>
      Effect.asVoid(
        operations.write(
          "OperationStore.update",
          operation,
          `update operation ${operations.setTo("$1")} where id = $2`,
          [operation.id]
        )
      ),
    claim: (claim) =>
      operations.first(
        "OperationStore.claim",
        // A runner looks after each end of an operation, and mostly finds nothing: so it looks before it waits for others.
        // The settings are made before the claim, which waits for others and may find nothing, because it reads them. A
        // session would plan the statements of the function for each of its first five claims.
        `with due as materialized (select exists (select from operation_head where class = $1 and due_at <= $3) as any)
         select claimed.* from due
         cross join lateral set_config('idle_in_transaction_session_timeout', $7, coalesce(due.any, true)) as patience
         cross join lateral set_config('plan_cache_mode', 'force_generic_plan', patience is not null) as plans
         cross join lateral operation_claim_in(
           $1, $2, $3, $4, $5, case when plans is not null then $6::int end) as claimed
         where due.any`,
        [
          claim.class,
          claim.worker,
          DateTime.toDateUtc(claim.now),
          DateTime.toDateUtc(claim.lease_until),
          claim.per_org,
          claim.per_parent,
          idleAfterClaim
        ]
      ),
    extend: (operation, { fence, worker }, lease_until) =>
      Effect.map(
        database.query<{ readonly status: string }>(
          "OperationStore.extend",
          `update operation o set lease_until = $4 where ${isHeld("o")} returning o.status`,
          [operation, worker, fence, DateTime.toDateUtc(lease_until)]
        ),
        ([held]) => (held === undefined ? "lost" : held.status === "cancelling" ? "cancelling" : "kept")
      ),
    release: (operation, { fence, worker }) =>
      Effect.asVoid(
        database.query(
          "OperationStore.release",
          `update operation o set lease_owner = null, lease_until = null where ${isHeld("o")}`,
          [operation, worker, fence]
        )
      ),
    list: (project, { action, branch_id, endpoint_id, status }, page) => {
      const wanted = Object.entries({ action, branch_id, endpoint_id, status }).filter(([, it]) => it !== undefined)
      return Effect.map(
        operations.all(
          "OperationStore.list",
          // Operations are kept for weeks, so those of one branch have their own index. The other members have none: the
          // rows of the project, or of the branch, are read in order until the page is full.
          `select * from operation
           where project_id = $1 and id < $2 ${wanted.map(([column], n) => `and ${column} = $${n + 4}`).join(" ")}
           order by id desc limit $3`,
          [project, olderThan(page), page.limit + 1, ...wanted.map(([, it]) => it)]
        ),
        (rows) => pageOf(rows, page)
      )
    },
    unfinished: (branch, { actions, endpoint_id, limit = mostUnfinished } = {}) =>
      Effect.map(
        operations.all(
          "OperationStore.unfinished",
          `select o.* from operation o where o.branch_id = $1 and ${isOpen("o")}
             and ($2::text[] is null or o.action = any($2::text[]))
             and ($3::text is null or o.endpoint_id is null or o.endpoint_id = $3)
           order by o.position desc limit $4`,
          [branch, actions ?? null, endpoint_id ?? null, limit]
        ),
        (newestFirst) => newestFirst.toReversed()
      )
  })
})

export const PostgresOperationStore = {
  layer: Layer.effect(OperationStore, make)
}

/**
 * `OperationStore` on Postgres.
 *
 * A claim is two statements. Claims of a class in a region run one after another, so that no limit is exceeded: the first statement waits
 * for that, and the second sees what the claim before it has committed. It skips rows that another transaction has locked.
 */
import { type Backlog, mostUnfinished, OperationStore, pageOf, StoredOperation, writesData } from "@narthex/core"
import { DateTime, Effect, Layer, Option } from "effect"
import { Database } from "../database/Database.ts"
import { lockOf } from "../database/exclusively.ts"
import { olderThan } from "../database/keyset.ts"
import { tableOf } from "../database/tableOf.ts"

/** The condition in the words of the partial indexes, so that the planner uses them. */
const isOpen = (row: string) => `${row}.status in ('scheduling', 'running', 'cancelling')`

/**
 * The longest idle time of a transaction after a claim, in milliseconds. Claims of the class wait for the transaction,
 * so a process that stops right there would otherwise stop them all.
 */
const idleAfterClaim = "5000"

/**
 * A runner looks after each end of an operation, and mostly finds nothing: so it looks before it waits for the other claims
 * of class `$1` in region `$4`. The settings are for `claimNext`. Its plan is made once in a session, and an index is right however few
 * operations wait when that is.
 */
const onceDue = `select set_config('idle_in_transaction_session_timeout', $3, true),
    set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
    ${lockOf("'operation_claim ' || $1 || ' ' || $4")}
  where exists (select from narthex.operation_head where region_id = $4 and class = $1 and due_at <= $2)`

const dataWriting = [...writesData].map((action) => `'${action}'`).join(", ")

/** A recursive query of the values of a column, each by one step along index `operation_head_due`. */
const valuesOf = (name: string, column: string, which: string) => `${name} as (
    (select h.${column} from narthex.operation_head h where ${which} order by h.${column} limit 1)
    union all
    select n.${column} from ${name} cross join lateral (select h.${column} from narthex.operation_head h
      where ${which} and h.${column} > ${name}.${column} order by h.${column} limit 1) n
  )`

/** The heads of class `$1` in region `$7`. */
const isOfClass = "h.region_id = $7 and h.class = $1"

/** The first due operations of a queue, in the order of that index: ten, as transactions may be changing some. */
const firstDue = (which: string, order: string) => `(select h.operation_id, h.position from narthex.operation_head h
  where ${isOfClass} and h.org_id = turn.org_id and h.lane = queue.lane and ${which} order by ${order} limit 10)`

/** The turns of the region. Earlier versions knew one region, and have turns by the class alone. */
const turns = "$7 || ' ' || $1"

/**
 * `nextClaim` of the core. An organization has a queue of the operations that copy nothing (its `lane` is empty), and one for
 * each branch that is copied. No queue is read to its end, and only the queues of the organization whose turn it is are read.
 */
const claimNext = `
  with recursive ${valuesOf("org", "org_id", isOfClass)}, claimed as (
    select h.org_id, h.lane from narthex.operation_head h where ${isOfClass} and h.leased_until > $3
  ), turn as (
    select org.org_id,
      coalesce((select t.served from narthex.operation_turn t where t.class = ${turns} and t.org_id = org.org_id), 0) as served
    from org where org.org_id not in (select c.org_id from claimed c group by c.org_id having count(*) >= $5)
    order by served, org.org_id
  ), next as (
    select first.id, turn.org_id
    from turn cross join lateral (
      with recursive ${valuesOf("queue", "lane", `${isOfClass} and h.org_id = turn.org_id`)}
      select o.id
      from queue cross join lateral (
        ${firstDue("h.due_at = timestamptz 'epoch'", "h.position")}
        union all
        ${firstDue("h.due_at > timestamptz 'epoch' and h.due_at <= $3", "h.due_at")}
      ) due join narthex.operation o on o.id = due.operation_id
      where queue.lane not in (select c.lane from claimed c where c.lane <> '' group by c.lane having count(*) >= $6)
        and not exists (select from narthex.operation w
          where w.branch_id = queue.lane and ${isOpen("w")} and w.action in (${dataWriting}))
        and ${isOpen("o")} and coalesce(greatest(o.retry_at, o.lease_until), $3) <= $3
      order by due.position limit 1 for update of o skip locked
    ) first
    order by turn.served, turn.org_id limit 1
  ), given as materialized (
    select id, org_id, nextval('narthex.operation_fence') as fence from next
  ), served as (
    insert into narthex.operation_turn (class, org_id, served) select ${turns}, org_id, fence from given
    on conflict (class, org_id) do update set served = excluded.served
  )
  update narthex.operation o set lease_owner = $2, lease_until = $4, fence = given.fence from given where o.id = given.id
  returning o.*`

/** Where counting stops, to bound the cost of a measurement. */
const mostCounted = 10_000

/** In region `$1`, or in all, at `$2`. An operation that is due at once has the `due_at` 1970. */
const backlog = `select class, count(*)::int as due, min(since) as since from (
    select h.class, greatest(o.created_at, h.due_at) as since
    from narthex.operation_head h join narthex.operation o on o.id = h.operation_id
    where ($1::text is null or h.region_id = $1) and h.due_at <= $2 limit ${mostCounted}
  ) waiting group by class`

/** Waits for the lock of branch `$2` before anything else of the statement. */
const onceAlone = `(select ${lockOf("$2")} as held offset 0) as branch`

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
    find: (operation) =>
      operations.first("OperationStore.find", "select * from narthex.operation where id = $1", [operation]),
    lock: (operation) =>
      operations.first("OperationStore.lock", "select * from narthex.operation where id = $1 for update", [operation]),
    lockFree: (operation) =>
      operations.first(
        "OperationStore.lockFree",
        "select * from narthex.operation where id = $1 for update skip locked",
        [operation]
      ),
    update: (operation) =>
      Effect.asVoid(
        operations.write(
          "OperationStore.update",
          operation,
          `update narthex.operation ${operations.setTo("$1")} where id = $2`,
          [operation.id]
        )
      ),
    claim: ({ class: of, lease_until, now, per_org, per_parent, region_id, worker }) =>
      database.transaction(
        Effect.gen(function* () {
          const at = DateTime.toDateUtc(now)
          const [alone] = yield* database.query("OperationStore.due", onceDue, [of, at, idleAfterClaim, region_id])
          if (alone === undefined) return Option.none()
          const until = DateTime.toDateUtc(lease_until)
          return yield* operations.first("OperationStore.claim", claimNext, [
            of,
            worker,
            at,
            until,
            per_org,
            per_parent,
            region_id
          ])
        })
      ),
    extend: (operation, { fence, worker }, lease_until) =>
      Effect.map(
        database.query<{ readonly status: string }>(
          "OperationStore.extend",
          `update narthex.operation o set lease_until = $4 where ${isHeld("o")} returning o.status`,
          [operation, worker, fence, DateTime.toDateUtc(lease_until)]
        ),
        ([held]) => (held === undefined ? "lost" : held.status === "cancelling" ? "cancelling" : "kept")
      ),
    release: (operation, { fence, worker }) =>
      Effect.asVoid(
        database.query(
          "OperationStore.release",
          `update narthex.operation o set lease_owner = null, lease_until = null where ${isHeld("o")}`,
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
          `select * from narthex.operation
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
          `select o.* from narthex.operation o where o.branch_id = $1 and ${isOpen("o")}
             and ($2::text[] is null or o.action = any($2::text[]))
             and ($3::text is null or o.endpoint_id is null or o.endpoint_id = $3)
           order by o.position desc limit $4`,
          [branch, actions ?? null, endpoint_id ?? null, limit]
        ),
        (newestFirst) => newestFirst.toReversed()
      ),
    backlog: (region, now) =>
      Effect.map(
        database.query<Pick<Backlog, "class" | "due"> & { readonly since: Date }>("OperationStore.backlog", backlog, [
          region,
          DateTime.toDateUtc(now)
        ]),
        (rows) => rows.map(({ since, ...rest }) => ({ ...rest, since: DateTime.makeUnsafe(since) }))
      )
  })
})

export const PostgresOperationStore = {
  layer: Layer.effect(OperationStore, make)
}

/** Operations and their leases. The order of claims is the core's `nextClaim`. */
import {
  type Lease,
  mostUnfinished,
  nextClaim,
  type OperationId,
  OperationStore,
  type OrgId,
  pageOf,
  StoredOperation
} from "@narthex/core"
import { Effect, Layer, Option } from "effect"
import { documents } from "../documents.ts"
import { nextOf, Sqlite } from "../Sqlite.ts"

export const open = "doc ->> 'status' in ('scheduling', 'running', 'cancelling')"

const operations = Effect.gen(function* () {
  const { query, run, transaction } = yield* Sqlite
  const operations = yield* documents("operation", StoredOperation)

  /** Changes the operation if the worker still holds it, and returns it as it was. */
  const whereHeld = (id: OperationId, { fence, worker }: Lease, rest: Partial<StoredOperation>) =>
    transaction(
      Effect.gen(function* () {
        const held = `id = ?1 and doc ->> 'lease_owner' = ?2 and doc ->> 'fence' = ?3 and ${open}`
        const row = yield* operations.one(held, id, worker, fence)
        if (Option.isSome(row)) yield* operations.put(id, new StoredOperation({ ...row.value, ...rest }))
        return row
      })
    )

  return OperationStore.of({
    insert: (operation) => operations.put(operation.id, operation),
    find: operations.get,
    lock: operations.get,
    lockFree: operations.get, // transactions are serialized
    update: (operation) => operations.put(operation.id, operation),
    // It reads every unfinished operation, which is fine for thousands. The Postgres adapter keeps queues instead.
    claim: ({ lease_until, now, worker, ...limits }) =>
      transaction(
        Effect.gen(function* () {
          const rows = yield* operations.where(`${open} order by rowid`)
          const keyOf = (org: OrgId) => `${limits.class} ${org}`
          const turns = yield* query("select key, served from operation_turn")
          const served = new Map(turns.map((turn) => [turn["key"], Number(turn["served"])]))
          const due = nextClaim(rows, now, limits, (org) => served.get(keyOf(org)) ?? 0)
          if (due === undefined) return Option.none()
          const fence = yield* nextOf(query, "fence")
          yield* run("insert or replace into operation_turn values (?1, ?2)", keyOf(due.org_id), fence)
          const claimed = new StoredOperation({ ...due, lease_owner: worker, lease_until, fence })
          yield* operations.put(due.id, claimed)
          return Option.some(claimed)
        })
      ),
    extend: (id, lease, lease_until) =>
      Effect.map(
        whereHeld(id, lease, { lease_until }),
        Option.match({
          onNone: () => "lost",
          onSome: ({ status }) => (status === "cancelling" ? "cancelling" : "kept")
        })
      ),
    release: (id, lease) => Effect.asVoid(whereHeld(id, lease, { lease_owner: null, lease_until: null })),
    list: (project, { action, branch_id, endpoint_id, status }, page) => {
      const wanted = Object.entries({ action, branch_id, endpoint_id, status })
      const fits = wanted.map(([member], n) => `(?${n + 2} is null or doc ->> '${member}' = ?${n + 2})`)
      return Effect.map(
        operations.newestFirst(
          page,
          ["doc ->> 'project_id' = ?1", ...fits].join(" and "),
          project,
          ...wanted.map(([, it]) => it ?? null)
        ),
        (rows) => pageOf(rows, page)
      )
    },
    unfinished: (branch, { actions, endpoint_id, limit = mostUnfinished } = {}) =>
      Effect.map(
        operations.where(
          `doc ->> 'branch_id' = ?1 and ${open}
             and (?2 is null or doc ->> 'action' in (select value from json_each(?2)))
             and (?3 is null or doc ->> 'endpoint_id' is null or doc ->> 'endpoint_id' = ?3)
           order by rowid desc limit ?4`,
          branch,
          actions === undefined ? null : JSON.stringify(actions),
          endpoint_id ?? null,
          limit
        ),
        (newestFirst) => newestFirst.toReversed()
      )
  })
})

export const layerOperations = Layer.effect(OperationStore, operations)

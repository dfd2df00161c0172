/**
 * Port: operations and their leases.
 *
 * A worker holds an operation by a lease. When it dies, the lease expires and another worker claims the operation, so a
 * crash at any point loses none. The operations of a branch run one after another in the order of their creation.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { BranchId, OperationId, ProjectId } from "../Ids.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { type Page, type PageRequest, pageOfAll } from "../Page.ts"
import type { StorageError } from "../StorageError.ts"
import { isFinal, StoredOperation } from "./Operation.ts"

export interface Claim {
  readonly worker: string
  readonly now: DateTime.Utc
  readonly lease_until: DateTime.Utc
}

export class OperationStore extends Context.Service<
  OperationStore,
  {
    readonly insert: (operation: StoredOperation) => Effect.Effect<void, StorageError>
    readonly find: (operation: OperationId) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
    /** As `find`, and locks the row until the end of the transaction. */
    readonly lock: (operation: OperationId) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
    readonly update: (operation: StoredOperation) => Effect.Effect<void, StorageError>
    /**
     * Leases the oldest due operation to the worker: not final, not leased at `now`, past its `retry_at`, and with no
     * earlier unfinished operation on its branch. Atomic: of several workers at once exactly one gets it. `None`: none
     * is due.
     */
    readonly claim: (claim: Claim) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
    /** Extends a lease that the worker still holds. `false`: it has lost the lease, or the operation is final. */
    readonly extend: (operation: OperationId, claim: Claim) => Effect.Effect<boolean, StorageError>
    /** Newest first; `branch` limits the list to the operations of a branch. */
    readonly list: (
      project: ProjectId,
      branch: BranchId | null,
      page: PageRequest
    ) => Effect.Effect<Page<StoredOperation>, StorageError>
    /** The unfinished operations of a branch, oldest first. */
    readonly unfinished: (branch: BranchId) => Effect.Effect<ReadonlyArray<StoredOperation>, StorageError>
  }
>()("@narthex/core/operations/OperationStore") {
  static readonly layerMemory: Layer.Layer<OperationStore, never, MemoryStorage> = Layer.effect(
    OperationStore,
    Effect.gen(function* () {
      const operations = (yield* MemoryStorage).table<StoredOperation>("operation")
      const order = (yield* MemoryStorage).table<{ readonly id: OperationId; readonly position: number }>(
        "operation_order"
      )
      const open = (rows: ReadonlyArray<StoredOperation>) => rows.filter((row) => !isFinal(row.status))
      const inOrder = Effect.gen(function* () {
        const positions = new Map((yield* order.all).map((row) => [row.id, row.position]))
        return (yield* operations.all).toSorted((a, b) => (positions.get(a.id) ?? 0) - (positions.get(b.id) ?? 0))
      })
      const past = (instant: DateTime.Utc | null, now: DateTime.Utc) =>
        instant === null || DateTime.isLessThanOrEqualTo(instant, now)
      const { transaction } = yield* MemoryStorage

      return OperationStore.of({
        insert: (operation) =>
          transaction(
            Effect.andThen(
              operations.put(operation.id, operation),
              order.modify((rows) => [undefined, [[operation.id, { id: operation.id, position: rows.length }]]])
            )
          ),
        find: operations.get,
        lock: operations.get,
        update: (operation) => operations.put(operation.id, operation),
        claim: ({ lease_until, now, worker }) =>
          transaction(
            Effect.gen(function* () {
              const waiting = open(yield* inOrder)
              const due = waiting.find(
                (row, index) =>
                  past(row.lease_until, now) &&
                  past(row.retry_at, now) &&
                  !waiting
                    .slice(0, index)
                    .some((earlier) => earlier.branch_id !== null && earlier.branch_id === row.branch_id)
              )
              if (due === undefined) return Option.none()
              const claimed = new StoredOperation({ ...due, lease_owner: worker, lease_until })
              yield* operations.put(due.id, claimed)
              return Option.some(claimed)
            })
          ),
        extend: (id, { lease_until, worker }) =>
          operations.modify((rows) => {
            const held = rows.find((row) => row.id === id && row.lease_owner === worker && !isFinal(row.status))
            return [held !== undefined, held === undefined ? [] : [[id, new StoredOperation({ ...held, lease_until })]]]
          }),
        list: (project, branch, page) =>
          Effect.map(operations.all, (rows) =>
            pageOfAll(
              rows.filter((row) => row.project_id === project && (branch === null || row.branch_id === branch)),
              page
            )
          ),
        unfinished: (branch) => Effect.map(inOrder, (rows) => open(rows).filter((row) => row.branch_id === branch))
      })
    })
  )
}

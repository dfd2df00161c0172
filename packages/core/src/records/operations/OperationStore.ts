/**
 * Port: operations and their leases.
 *
 * A worker holds an operation by a lease. When it dies, the lease expires and another worker claims the operation, so a
 * crash at any point loses none. The operations of a branch run one after another in the order of their creation.
 *
 * Pitfall: comparing the worker alone. A worker that lost an operation may claim it again, so each claim has a number,
 * its fence, and only the latest claim counts.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { BranchId, EndpointId, OperationId, OrgId, ProjectId, RegionId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { type ClaimLimits, dueHeads, dueSince, nextClaim } from "./nextClaim.ts"
import { isFinal, type OperationAction, StoredOperation } from "./Operation.ts"
import { classOf, OperationClass } from "./OperationClass.ts"
import { fits, type OperationFilter } from "./OperationFilter.ts"

export interface Claim extends ClaimLimits {
  readonly worker: string
  readonly now: DateTime.Utc
  readonly lease_until: DateTime.Utc
}

/** The claim that a worker holds an operation by. */
export interface Lease {
  readonly worker: string
  readonly fence: number
}

/** A filter of a branch's unfinished operations. A member that is left out narrows nothing. */
export interface Unfinished {
  readonly actions?: ReadonlyArray<OperationAction>
  /** The operations of this endpoint, and of the branch as a whole. */
  readonly endpoint_id?: EndpointId
  /** At most so many; left out: `mostUnfinished`. */
  readonly limit?: number
}

/**
 * How many unfinished operations of a branch are read at once, and may wait on it before it takes no more work
 * (docs/design/operations.md O23). A branch performs a few in a second, so what comes after 100 waits for most of a
 * minute at best: longer than clients wait.
 */
export const mostUnfinished = 100

/** The due operations of a class: how many, and since when the oldest is due. */
export interface Backlog {
  readonly class: OperationClass
  readonly due: number
  readonly since: DateTime.Utc
}

/** `kept`: the lease is extended. `cancelling`: so it is, and the operation is to be cancelled. `lost`: another holds it. */
export type Extended = "kept" | "cancelling" | "lost"

export class OperationStore extends Context.Service<
  OperationStore,
  {
    readonly insert: (operation: StoredOperation) => Effect.Effect<void, StorageError>
    readonly find: (operation: OperationId) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
    /** As `find`, and locks the row until the end of the transaction. */
    readonly lock: (operation: OperationId) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
    /** As `lock`, without waiting: `None` also where another transaction has locked the row. */
    readonly lockFree: (operation: OperationId) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
    readonly update: (operation: StoredOperation) => Effect.Effect<void, StorageError>
    /**
     * Leases a due operation of a class and a region to the worker: not final, not leased at `now`, past its `retry_at`, with no
     * earlier unfinished operation on its branch, within the limits, and not a copy of data that is being made.
     * `nextClaim` is the rule that chooses among several. The claimed operation has a fence that is higher than that of
     * every earlier claim.
     *
     * Atomic: exactly one of several simultaneous workers gets an operation, and no limit is exceeded. The cost does
     * not grow with the number of operations that wait on a branch or in an organization. `None`: no operation is due,
     * or another transaction is changing the due ones.
     *
     * Within a transaction a claim is its last lock, because other claims of class and region wait until the transaction ends.
     * An adapter ends a transaction that is idle for five seconds after a claim that others wait for. A claim that
     * found nothing due holds up no other.
     *
     * Pitfall: waiting for anything else after a claim. Claims wait for its transaction, so a transaction that waits
     * for a claim may hold the awaited lock.
     */
    readonly claim: (claim: Claim) => Effect.Effect<Option.Option<StoredOperation>, StorageError>
    /** Extends a lease that the worker still holds, if the operation is not final. */
    readonly extend: (
      operation: OperationId,
      lease: Lease,
      lease_until: DateTime.Utc
    ) => Effect.Effect<Extended, StorageError>
    /** Ends a lease that the worker still holds, so that the operation can be claimed at once. */
    readonly release: (operation: OperationId, lease: Lease) => Effect.Effect<void, StorageError>
    /**
     * The operations of the project that fit the filter, newest first. A position is an id and belongs to no filter.
     * Filtered by `branch_id` or by nothing, a page costs the same wherever it lies; other filters may read more of the
     * project's operations, or of the branch's.
     */
    readonly list: (
      project: ProjectId,
      filter: OperationFilter,
      page: PageRequest
    ) => Effect.Effect<Page<StoredOperation>, StorageError>
    /** The newest unfinished operations of a branch that fit, in the order of their creation. */
    readonly unfinished: (
      branch: BranchId,
      which?: Unfinished
    ) => Effect.Effect<ReadonlyArray<StoredOperation>, StorageError>
    /**
     * The due operations by class, in a region or in all (`null`): those that a claim without limits would get. An operation
     * is due since its creation, its `retry_at` or the end of its lease, whichever is the latest. A class in which nothing is
     * due is left out. An adapter may stop counting at 10,000 operations.
     */
    readonly backlog: (
      region: RegionId | null,
      now: DateTime.Utc
    ) => Effect.Effect<ReadonlyArray<Backlog>, StorageError>
  }
>()("@narthex/core/records/operations/OperationStore") {
  static readonly layerMemory: Layer.Layer<OperationStore, never, MemoryStorage> = Layer.effect(
    OperationStore,
    Effect.gen(function* () {
      const { table, transaction } = yield* MemoryStorage
      const operations = table<StoredOperation>("operation")
      const order = table<{ readonly id: OperationId; readonly position: number }>("operation_order")
      const turns = table<{ readonly key: string; readonly served: number }>("operation_turn")
      const counters = table<number>("operation_counter")
      const open = (rows: ReadonlyArray<StoredOperation>) => rows.filter((row) => !isFinal(row.status))
      const inOrder = Effect.gen(function* () {
        const positions = new Map((yield* order.all).map((row) => [row.id, row.position]))
        return (yield* operations.all).toSorted((a, b) => (positions.get(a.id) ?? 0) - (positions.get(b.id) ?? 0))
      })
      const next = Effect.fnUntraced(function* (counter: "fence" | "position") {
        const value = Option.getOrElse(yield* counters.get(counter), () => 0) + 1
        yield* counters.put(counter, value)
        return value
      })
      const whereHeld = (
        id: OperationId,
        { fence, worker }: Lease,
        change: (held: StoredOperation) => StoredOperation
      ) =>
        operations.modify((rows) => {
          const held = open(rows).find((row) => row.id === id && row.lease_owner === worker && row.fence === fence)
          return [held, held === undefined ? [] : [[id, change(held)]]]
        })

      return OperationStore.of({
        insert: (operation) =>
          transaction(
            Effect.gen(function* () {
              yield* operations.put(operation.id, operation)
              yield* order.put(operation.id, { id: operation.id, position: yield* next("position") })
            })
          ),
        find: operations.get,
        lock: operations.get,
        lockFree: operations.get, // transactions of `MemoryStorage` are serialized
        update: (operation) => operations.put(operation.id, operation),
        claim: ({ lease_until, now, worker, ...limits }) =>
          transaction(
            Effect.gen(function* () {
              const served = new Map((yield* turns.all).map((turn) => [turn.key, turn.served]))
              const keyOf = (org: OrgId) => `${limits.region_id} ${limits.class} ${org}`
              const due = nextClaim(yield* inOrder, now, limits, (org) => served.get(keyOf(org)) ?? 0)
              if (due === undefined) return Option.none()
              const fence = yield* next("fence")
              const key = keyOf(due.org_id)
              yield* turns.put(key, { key, served: fence })
              const claimed = new StoredOperation({ ...due, lease_owner: worker, lease_until, fence })
              yield* operations.put(due.id, claimed)
              return Option.some(claimed)
            })
          ),
        extend: (id, lease, lease_until) =>
          Effect.map(
            whereHeld(id, lease, (held) => new StoredOperation({ ...held, lease_until })),
            (held) => (held === undefined ? "lost" : held.status === "cancelling" ? "cancelling" : "kept")
          ),
        release: (id, lease) =>
          Effect.asVoid(
            whereHeld(id, lease, (held) => new StoredOperation({ ...held, lease_owner: null, lease_until: null }))
          ),
        list: (project, filter, page) =>
          Effect.map(operations.all, (rows) =>
            pageOfAll(
              rows.filter((row) => row.project_id === project && fits(row, filter)),
              page
            )
          ),
        unfinished: (branch, { actions, endpoint_id, limit = mostUnfinished } = {}) =>
          Effect.map(inOrder, (rows) =>
            open(rows)
              .filter((row) => row.branch_id === branch && (actions?.includes(row.action) ?? true))
              .filter((row) => endpoint_id === undefined || row.endpoint_id === null || row.endpoint_id === endpoint_id)
              .slice(-limit)
          ),
        backlog: (region, now) =>
          Effect.map(inOrder, (rows) => {
            const due = dueHeads(rows, now).filter(({ region_id }) => region === null || region_id === region)
            return OperationClass.literals.flatMap((of) => {
              const [first, ...rest] = due.filter(({ action }) => classOf(action) === of).map(dueSince)
              return first === undefined
                ? []
                : [{ class: of, due: rest.length + 1, since: rest.reduce(DateTime.min, first) }]
            })
          })
      })
    })
  )
}

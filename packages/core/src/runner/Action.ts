/**
 * An action of an operation: the changes at its start, the work of the machines, and the changes at its end.
 *
 * The runner calls the parts in this order: `begin` with the move to `running`, `perform` outside of any transaction,
 * `complete` with the move to `finished`. Where the operation fails for good or is skipped, `giveUp` takes the place of
 * the parts that are left. `begin`, `complete` and `giveUp` run inside a transaction of the runner, which holds the
 * operation's lock; each of them commits together with the move, so none takes effect twice. `perform` may be
 * interrupted anywhere and run again, by this runner or another one.
 */
import { Effect } from "effect"
import type { BranchId } from "../Ids.ts"
import type { Compute, ComputeDriver, ComputeFailed } from "../records/computes/ComputeDriver.ts"
import type { StoredOperation } from "../records/operations/Operation.ts"
import type { OperationStore } from "../records/operations/OperationStore.ts"
import type { BranchRoleStore } from "../records/projects/BranchRoleStore.ts"
import type { BranchStore } from "../records/projects/BranchStore.ts"
import type { EndpointStore } from "../records/projects/EndpointStore.ts"
import type { QuotaStore } from "../records/quotas/QuotaStore.ts"
import type { StorageError } from "../StorageError.ts"
import type { Transaction } from "../Transaction.ts"

type Stores = BranchStore | EndpointStore | OperationStore

/**
 * How an operation goes on once it is claimed: it runs, it is skipped because there is nothing left to do, or it waits
 * because another branch has to be ready first.
 */
export type Begun = "go" | "skip" | "wait"

/** The members of an action that carries no promise. */
export const noPromise = { isPromise: false, isObsolete: () => Effect.succeed(true) } as const

export interface Action {
  /** Decides whether the operation runs, and changes what shows that it does. */
  readonly begin: (operation: StoredOperation) => Effect.Effect<Begun, StorageError, Stores | Transaction>
  /** Brings the machines to the wanted state. Returns the compute where one was started, else `null`. */
  readonly perform: (
    operation: StoredOperation,
    branch: BranchId
  ) => Effect.Effect<
    Compute | null,
    ComputeFailed | StorageError,
    ComputeDriver | BranchRoleStore | QuotaStore | Stores
  >
  /** Records the state that was reached. `compute` is what `perform` returned. */
  readonly complete: (
    operation: StoredOperation,
    compute: Compute | null
  ) => Effect.Effect<void, StorageError, Stores | Transaction>
  /** Clears what `begin` or the request left pending, so that branch and endpoints can be used again. */
  readonly giveUp: (operation: StoredOperation) => Effect.Effect<void, StorageError, Stores>
  /**
   * Whether the operation carries a promise that a caller was given, such as a revocation or a deletion. It is tried
   * until it succeeds, and cannot be cancelled.
   */
  readonly isPromise: boolean
  /** Of a promise: is it kept already, or will a later operation keep it? Then the next failure ends it. */
  readonly isObsolete: (operation: StoredOperation) => Effect.Effect<boolean, StorageError, Stores>
  /** Ends what a call of the driver that was abandoned may have left running. It is followed by `giveUp`. */
  readonly undo?: (
    operation: StoredOperation
  ) => Effect.Effect<void, ComputeFailed | StorageError, ComputeDriver | Stores>
}

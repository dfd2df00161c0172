/**
 * A place of this process's runner that is taken before an operation is scheduled, so that the transaction that schedules it
 * can claim it too (docs/design/operations.md O22).
 *
 * The claim is the same as any other: it takes the operation whose turn it is, which may be another one than the transaction
 * has scheduled, or none.
 */
import type { Effect } from "effect"
import type { StorageError } from "../StorageError.ts"
import type { StoredOperation } from "./Operation.ts"
import type { OperationClass } from "./OperationClass.ts"

export interface ClaimedOperation {
  readonly operation: StoredOperation
  /** The operation as it runs, if it has begun in the same transaction. */
  readonly running: StoredOperation | undefined
}

export interface TakenPlace {
  /**
   * As the last change of the running transaction: claims an operation, and begins it if it is the one that the transaction
   * has scheduled.
   */
  readonly claim: (scheduled: StoredOperation) => Effect.Effect<ClaimedOperation | undefined, StorageError>
  /**
   * Once the transaction is over, exactly once: performs what was claimed, and frees the place after that. Not `committed`:
   * whether the claim took effect is not known.
   */
  readonly leave: (claimed: ClaimedOperation | undefined, committed: boolean) => Effect.Effect<void>
}

/** Takes a place of a class. `undefined`: no place is free. */
export interface PlaceOffer {
  readonly of: OperationClass
  readonly take: Effect.Effect<TakenPlace | undefined>
}

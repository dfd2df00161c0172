/**
 * A place of this process's runner that is taken before an operation is scheduled, so that the transaction that schedules it
 * can claim it too (docs/design/operations.md O22).
 *
 * The claim is like any other: it takes the operation whose turn it is, if there is one. The claimed operation need not
 * be the scheduled one.
 */
import type { Effect } from "effect"
import type { StorageError } from "../../StorageError.ts"
import type { StoredOperation } from "./Operation.ts"
import type { OperationClass } from "./OperationClass.ts"

export interface ClaimedOperation {
  readonly operation: StoredOperation
  /** The operation as it runs, if it has begun in the same transaction. */
  readonly running: StoredOperation | undefined
}

export interface TakenPlace {
  /**
   * Claims an operation as the last change of the running transaction, and begins it if the transaction has scheduled
   * it.
   */
  readonly claim: (scheduled: StoredOperation) => Effect.Effect<ClaimedOperation | undefined, StorageError>
  /**
   * Performs the claimed operation, then frees the place. Called exactly once, after the transaction. `committed`
   * `false`: whether the claim took effect is not known.
   */
  readonly leave: (claimed: ClaimedOperation | undefined, committed: boolean) => Effect.Effect<void>
}

/** Takes a place of a class. `undefined`: no place is free. */
export interface PlaceOffer {
  readonly of: OperationClass
  readonly take: Effect.Effect<TakenPlace | undefined>
}

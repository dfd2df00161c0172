/**
 * Cancels operations (docs/design/operations.md O15 to O17).
 *
 * An operation that has not started is cancelled at once. A running operation becomes `cancelling`, and the runner that
 * performs it ends it, or else the next runner that claims it.
 */
import { Context, Effect, Layer, Option } from "effect"
import { Conflict, type NotFound, orNotFound } from "../Refusals.ts"
import { isFinal, StoredOperation } from "../records/operations/Operation.ts"
import { OperationStore } from "../records/operations/OperationStore.ts"
import type { BranchStore } from "../records/projects/BranchStore.ts"
import { EndpointStore } from "../records/projects/EndpointStore.ts"
import { movesEndpoint } from "../rules/operations/desiredState.ts"
import type { StorageError } from "../StorageError.ts"
import { Operations } from "../services/operations/Operations.ts"
import { Transaction } from "../Transaction.ts"
import { actions } from "./actions.ts"

export class OperationCancels extends Context.Service<
  OperationCancels,
  {
    /**
     * Cancels the operation, and returns it as it is then: `cancelled` or `cancelling`. Repeating it changes nothing.
     * `Conflict`: the operation is over, carries a promise, or ends a compute with a former size.
     */
    readonly cancel: (
      operation: Pick<StoredOperation, "id">
    ) => Effect.Effect<StoredOperation, Conflict | NotFound | StorageError>
  }
>()("@narthex/core/runner/OperationCancels") {
  static readonly layer: Layer.Layer<
    OperationCancels,
    never,
    BranchStore | EndpointStore | Operations | OperationStore | Transaction
  > = Layer.effect(
    OperationCancels,
    Effect.gen(function* () {
      const context = yield* Effect.context<BranchStore | EndpointStore | OperationStore>()
      const endpoints = yield* EndpointStore
      const store = yield* OperationStore
      const operations = yield* Operations
      const { run } = yield* Transaction

      /** The quota counts the new size already. Without the operation the compute would keep the memory of the former one. */
      const endsFormerSize = Effect.fnUntraced(function* ({ action, branch_id, endpoint_id }: StoredOperation) {
        if (!movesEndpoint.includes(action) || branch_id === null) return false
        const all = yield* endpoints.ofBranch(branch_id)
        const ended = endpoint_id === null ? all : all.filter(({ id }) => id === endpoint_id)
        const locked = yield* Effect.forEach(ended, ({ id }) => endpoints.lock(id))
        return locked.some(Option.exists(({ current_state, resized }) => resized && current_state === "active"))
      })

      const cancel: OperationCancels["Service"]["cancel"] = Effect.fn("OperationCancels.cancel")(function* ({ id }) {
        const step = Effect.gen(function* () {
          const operation = yield* orNotFound(store.lock(id))
          const { action, status } = operation
          if (status === "cancelled" || status === "cancelling") return operation
          if (isFinal(status)) return yield* new Conflict({ reason: `The operation has ended: it is ${status}.` })
          if (actions[action].isPromise)
            return yield* new Conflict({
              reason: "Deletions and changes of roles cannot be cancelled. They are tried until they have succeeded."
            })
          if (yield* endsFormerSize(operation))
            return yield* new Conflict({
              reason: "The compute runs with a former size, and this operation ends that. It cannot be cancelled."
            })
          if (status === "running") {
            // Due at once: no worker performs an operation that waits for its retry.
            const due = new StoredOperation({ ...operation, retry_at: null })
            return yield* operations.move(due, "cancelling")
          }
          yield* Effect.provideContext(actions[action].giveUp(operation), context)
          return yield* operations.move(operation, "cancelled")
        })
        return yield* run(step)
      })

      return OperationCancels.of({ cancel })
    })
  )
}

/** `reset_branch`: replace the data of a branch by a copy of its parent as it is now. Its computes stop. */
import { DateTime, Effect, Option } from "effect"
import { ComputeDriver, ComputeFailed } from "../../records/computes/ComputeDriver.ts"
import type { StoredOperation } from "../../records/operations/Operation.ts"
import { Endpoint, withoutCompute } from "../../records/projects/Endpoint.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import { type Action, noPromise } from "../Action.ts"
import { beginCopy, parentOf, settleBranch } from "../branchData.ts"
import { putSettled } from "../settleEndpoint.ts"

export const resetBranch: Action = {
  ...noPromise,
  begin: beginCopy,

  perform: Effect.fnUntraced(function* (operation, branch) {
    const parent = Option.getOrUndefined(yield* parentOf(operation))
    if (parent === undefined)
      return yield* new ComputeFailed({ reason: "The parent branch is gone.", retryable: false })
    yield* (yield* ComputeDriver).resetBranch(branch, parent)
    return null
  }),

  complete: Effect.fnUntraced(function* (operation) {
    yield* settleBranch(operation, "ready")
    yield* suspendEndpoints(operation)
  }),

  /** The branch keeps the data that it had. */
  giveUp: (operation) => settleBranch(operation, "ready")
}

/** Records that no compute of the branch runs any more. */
const suspendEndpoints = Effect.fnUntraced(function* (operation: StoredOperation) {
  const store = yield* EndpointStore
  if (operation.branch_id === null) return
  const now = yield* DateTime.now
  for (const { id } of yield* store.ofBranch(operation.branch_id)) {
    const endpoint = Option.getOrUndefined(yield* store.lock(id))
    if (endpoint === undefined || (endpoint.current_state === "idle" && endpoint.pending_state === null)) continue
    const suspended_at = endpoint.current_state === "active" ? now : endpoint.suspended_at
    yield* putSettled(operation, new Endpoint({ ...endpoint, ...withoutCompute, suspended_at, updated_at: now }))
  }
})

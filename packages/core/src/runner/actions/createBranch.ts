/**
 * `create_timeline`, `create_branch`: make the data of a branch, empty or as a copy of its parent.
 *
 * The branch's row exists since the request, in state `init`, and so may endpoints: they become usable with it.
 */
import { DateTime, Effect, Option } from "effect"
import { ComputeDriver } from "../../records/computes/ComputeDriver.ts"
import type { StoredOperation } from "../../records/operations/Operation.ts"
import { Endpoint } from "../../records/projects/Endpoint.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import { type Action, noPromise } from "../Action.ts"
import { beginCopy, parentOf, settleBranch } from "../branchData.ts"
import { putSettled } from "../settleEndpoint.ts"

export const createBranch: Action = {
  ...noPromise,
  begin: beginCopy,

  perform: Effect.fnUntraced(function* (operation, branch) {
    yield* (yield* ComputeDriver).createBranch(branch, yield* parentOf(operation))
    return null
  }),

  complete: Effect.fnUntraced(function* (operation) {
    yield* settleBranch(operation, "ready")
    yield* settleNewEndpoints(operation, "idle")
  }),

  giveUp: Effect.fnUntraced(function* (operation) {
    yield* settleBranch(operation, "init")
    yield* settleNewEndpoints(operation, "init")
  })
}

/** Moves the endpoints that were created before their branch was ready. */
const settleNewEndpoints = Effect.fnUntraced(function* (operation: StoredOperation, current_state: "idle" | "init") {
  const store = yield* EndpointStore
  const updated_at = yield* DateTime.now
  if (operation.branch_id === null) return
  for (const { id } of yield* store.ofBranch(operation.branch_id)) {
    const endpoint = Option.getOrUndefined(yield* store.lock(id))
    if (endpoint?.current_state !== "init") continue
    yield* putSettled(operation, new Endpoint({ ...endpoint, current_state, updated_at }))
  }
})

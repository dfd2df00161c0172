/** `suspend_compute`: stop an endpoint's compute. Its data stays, and the next start continues from it. */
import { DateTime, Effect, Option } from "effect"
import { ComputeDriver } from "../../records/computes/ComputeDriver.ts"
import { endpointChanged } from "../../records/events/EndpointChange.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import { type Endpoint, withoutCompute } from "../../records/projects/Endpoint.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import { activityTiming, idleFor } from "../../records/projects/EndpointUse.ts"
import { Transaction } from "../../Transaction.ts"
import { type Action, noPromise } from "../Action.ts"
import { settleEndpoint } from "../settleEndpoint.ts"

export const suspendCompute: Action = {
  ...noPromise,
  /** Skips an endpoint that does not run, and an idle suspend of a compute that is in use again. */
  begin: Effect.fnUntraced(function* (operation) {
    const { endpoint_id } = operation
    const store = yield* EndpointStore
    const endpoint = endpoint_id === null ? undefined : Option.getOrUndefined(yield* store.lock(endpoint_id))
    if (endpoint === undefined || endpoint.current_state !== "active") return "skip"
    return operation.initiator.type !== "system" || (yield* idleStill(endpoint)) ? "go" : "skip"
  }),

  perform: Effect.fnUntraced(function* ({ endpoint_id }) {
    if (endpoint_id !== null) yield* (yield* ComputeDriver).stop(endpoint_id)
    return null
  }),

  complete: Effect.fnUntraced(function* (operation) {
    const { endpoint_id, org_id, project_id } = operation
    yield* settleEndpoint(operation, { ...withoutCompute, suspended_at: yield* DateTime.now })
    // The compute may go on for other endpoints of the branch, and with it the sessions of this one.
    if (endpoint_id !== null) yield* (yield* Transaction).emit(endpointChanged(org_id, project_id, { endpoint_id }))
  }),

  giveUp: (operation) => settleEndpoint(operation, {})
}

/**
 * Is the compute idle still, under the lock and by the reports of now? The first decision may have waited for a runner.
 * A start that follows means that a client waits for the compute, so it keeps running.
 */
const idleStill = Effect.fnUntraced(function* (endpoint: Endpoint) {
  const { branch_id, id: endpoint_id } = endpoint
  const starts = yield* (yield* OperationStore).unfinished(branch_id, {
    actions: ["start_compute"],
    endpoint_id,
    limit: 1
  })
  if (starts.length > 0) return false
  const use = Option.getOrUndefined(yield* (yield* EndpointStore).use(endpoint.id))
  return use !== undefined && idleFor(endpoint, use, activityTiming.interval + activityTiming.fresh)
})

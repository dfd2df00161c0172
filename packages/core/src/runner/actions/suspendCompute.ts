/** `suspend_compute`: stop an endpoint's compute. Its data stays, and the next start continues from it. */
import { DateTime, Effect, Option } from "effect"
import { ComputeDriver } from "../../computes/ComputeDriver.ts"
import type { StoredOperation } from "../../operations/Operation.ts"
import { type Endpoint, withoutCompute } from "../../projects/Endpoint.ts"
import { EndpointStore } from "../../projects/EndpointStore.ts"
import { type Action, noPromise } from "../Action.ts"
import { settleEndpoint } from "../settleEndpoint.ts"

export const suspendCompute: Action = {
  ...noPromise,
  /** Skips an endpoint that does not run, and one that was used after the system decided to suspend it. */
  begin: Effect.fnUntraced(function* (operation) {
    const { endpoint_id } = operation
    const store = yield* EndpointStore
    const endpoint = endpoint_id === null ? undefined : Option.getOrUndefined(yield* store.lock(endpoint_id))
    if (endpoint === undefined || endpoint.current_state !== "active") return "skip"
    return operation.initiator.type === "system" && usedSince(operation, endpoint) ? "skip" : "go"
  }),

  perform: Effect.fnUntraced(function* ({ endpoint_id }) {
    if (endpoint_id !== null) yield* (yield* ComputeDriver).stop(endpoint_id)
    return null
  }),

  complete: Effect.fnUntraced(function* (operation) {
    yield* settleEndpoint(operation, { ...withoutCompute, suspended_at: yield* DateTime.now })
  }),

  giveUp: (operation) => settleEndpoint(operation, {})
}

/** Was the compute used after the operation was scheduled? */
const usedSince = ({ created_at }: StoredOperation, { last_active_at }: Endpoint) =>
  last_active_at !== null && DateTime.isGreaterThan(last_active_at, created_at)

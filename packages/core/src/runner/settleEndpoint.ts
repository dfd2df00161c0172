/** Changes of an endpoint at the end of an operation. */
import { DateTime, Effect, Option } from "effect"
import type { StoredOperation } from "../records/operations/Operation.ts"
import { OperationStore } from "../records/operations/OperationStore.ts"
import { Endpoint } from "../records/projects/Endpoint.ts"
import { EndpointStore } from "../records/projects/EndpointStore.ts"
import { desiredState, movesEndpoint } from "../rules/operations/desiredState.ts"

/**
 * Stores an endpoint that the caller has locked and changed, with the `pending_state` that remains once `operation` is
 * over: the state that the other unfinished operations lead to, or `null` where the endpoint is in it already.
 */
export const putSettled = Effect.fnUntraced(function* (operation: StoredOperation, settled: Endpoint) {
  // Two, because the operation itself may be the newest.
  const unfinished = yield* (yield* OperationStore).unfinished(settled.branch_id, {
    actions: movesEndpoint,
    endpoint_id: settled.id,
    limit: 2
  })
  const { by, state } = desiredState(
    settled,
    unfinished.filter((it) => it.id !== operation.id)
  )
  const pending_state = Option.isSome(by) && state !== settled.current_state ? state : null
  yield* (yield* EndpointStore).put(new Endpoint({ ...settled, pending_state }))
})

/** Changes the operation's endpoint under its lock. A deleted endpoint is left as it is. */
export const settleEndpoint = Effect.fnUntraced(function* (operation: StoredOperation, changes: Partial<Endpoint>) {
  if (operation.endpoint_id === null) return
  const endpoint = Option.getOrUndefined(yield* (yield* EndpointStore).lock(operation.endpoint_id))
  if (endpoint === undefined) return
  yield* putSettled(operation, new Endpoint({ ...endpoint, ...changes, updated_at: yield* DateTime.now }))
})

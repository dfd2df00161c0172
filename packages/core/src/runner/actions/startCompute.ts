/**
 * `start_compute`: run an endpoint's compute, with every role of the branch that is valid now, and with its size. A compute
 * that runs with another size is started again: its sessions end, as after a suspend.
 *
 * Pitfall: raising the generation with each try. It is raised in `begin`, once per operation, so that a start that is
 * run again finds its own compute and does not start a second one.
 */
import { DateTime, Effect, Option } from "effect"
import { ComputeDriver, ComputeFailed } from "../../records/computes/ComputeDriver.ts"
import { endpointChanged } from "../../records/events/EndpointChange.ts"
import { Endpoint, withoutCompute } from "../../records/projects/Endpoint.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import { Transaction } from "../../Transaction.ts"
import { type Action, noPromise } from "../Action.ts"
import { settleEndpoint } from "../settleEndpoint.ts"
import { withValidRoles } from "../validRoles.ts"

export const startCompute: Action = {
  ...noPromise,
  /** Skips an endpoint that is deleted, disabled or active already with its size. The address of the last compute is removed. */
  begin: Effect.fnUntraced(function* ({ endpoint_id, org_id, project_id }) {
    const store = yield* EndpointStore
    const endpoint = endpoint_id === null ? undefined : Option.getOrUndefined(yield* store.lock(endpoint_id))
    if (endpoint === undefined || endpoint.disabled) return "skip"
    const runs = endpoint.current_state === "active"
    if (runs && !endpoint.resized) return "skip"
    yield* store.put(
      new Endpoint({
        ...endpoint,
        ...(runs ? withoutCompute : {}),
        generation: endpoint.generation + 1,
        pending_state: "active",
        address: null,
        resized: false,
        updated_at: yield* DateTime.now
      })
    )
    if (runs) yield* (yield* Transaction).emit(endpointChanged(org_id, project_id, { endpoint_id: endpoint.id }))
    return "go"
  }),

  perform: Effect.fnUntraced(function* ({ endpoint_id }, branch_id) {
    const driver = yield* ComputeDriver
    return yield* withValidRoles(
      branch_id,
      Effect.fnUntraced(function* (roles, endpoints) {
        const endpoint = endpoints.find(({ id }) => id === endpoint_id)
        if (endpoint === undefined)
          return yield* new ComputeFailed({ reason: "The endpoint is gone.", retryable: false })
        const { generation, id, size } = endpoint
        return yield* driver.start({ endpoint_id: id, branch_id, generation, roles, size })
      })
    )
  }),

  complete: Effect.fnUntraced(function* (operation, compute) {
    const now = yield* DateTime.now
    yield* settleEndpoint(operation, {
      current_state: "active",
      address: compute?.address ?? null,
      reach: compute?.reach ?? null,
      connections: 0,
      started_at: now,
      last_active_at: now,
      suspended_at: null
    })
  }),

  giveUp: (operation) => settleEndpoint(operation, {}),

  /** A start that was abandoned may still have started the compute, which no record would show. */
  undo: Effect.fnUntraced(function* ({ endpoint_id }) {
    if (endpoint_id !== null) yield* (yield* ComputeDriver).stop(endpoint_id)
  })
}

/** `delete_compute`: stop the compute of an endpoint that was deleted. */
import { Effect } from "effect"
import { ComputeDriver } from "../../records/computes/ComputeDriver.ts"
import type { Action } from "../Action.ts"

export const deleteCompute: Action = {
  isPromise: true,
  isObsolete: () => Effect.succeed(false),
  begin: () => Effect.succeed("go"),

  perform: Effect.fnUntraced(function* ({ endpoint_id }) {
    if (endpoint_id !== null) yield* (yield* ComputeDriver).stop(endpoint_id)
    return null
  }),

  // The row was marked as deleted by the request.
  complete: () => Effect.void,
  giveUp: () => Effect.void
}

/** `delete_timeline`: remove the data of a branch that was deleted, and stop what runs on it. */
import { Effect } from "effect"
import { ComputeDriver } from "../../records/computes/ComputeDriver.ts"
import type { Action } from "../Action.ts"

export const deleteTimeline: Action = {
  isPromise: true,
  isObsolete: () => Effect.succeed(false),
  begin: () => Effect.succeed("go"),

  perform: Effect.fnUntraced(function* (_operation, branch) {
    yield* (yield* ComputeDriver).deleteBranch(branch)
    return null
  }),

  // The rows were marked as deleted by the request.
  complete: () => Effect.void,
  giveUp: () => Effect.void
}

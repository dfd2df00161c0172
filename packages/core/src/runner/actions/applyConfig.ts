/**
 * `apply_config`: bring the roles of a running branch to those that are valid now, and end the sessions of the others.
 * A suspended branch gets them at its next start.
 */
import { Effect } from "effect"
import { ComputeDriver } from "../../computes/ComputeDriver.ts"
import type { Action } from "../Action.ts"
import { validRoles } from "../validRoles.ts"

export const applyConfig: Action = {
  begin: () => Effect.succeed("go"),

  perform: Effect.fnUntraced(function* (_operation, branch) {
    yield* (yield* ComputeDriver).applyRoles(branch, yield* validRoles(branch))
    return null
  }),

  complete: () => Effect.void,
  giveUp: () => Effect.void
}

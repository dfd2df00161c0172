/**
 * `apply_config`: bring the roles of a running branch to those that are valid now, and end the sessions of the others.
 * A suspended branch gets them at its next start.
 *
 * The operation may carry a revocation, so it is tried until it has succeeded, or until the branch is deleted: then the
 * deletion that follows it stops the compute.
 */
import { Effect, Option } from "effect"
import { ComputeDriver } from "../../records/computes/ComputeDriver.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import type { Action } from "../Action.ts"
import { withValidRoles } from "../validRoles.ts"

export const applyConfig: Action = {
  isPromise: true,

  isObsolete: Effect.fnUntraced(function* ({ branch_id, project_id }) {
    return branch_id === null || Option.isNone(yield* (yield* BranchStore).find(project_id, branch_id))
  }),

  begin: () => Effect.succeed("go"),

  perform: Effect.fnUntraced(function* (_operation, branch) {
    const driver = yield* ComputeDriver
    yield* withValidRoles(branch, (roles) => driver.applyRoles(branch, roles))
    return null
  }),

  complete: () => Effect.void,
  giveUp: () => Effect.void
}

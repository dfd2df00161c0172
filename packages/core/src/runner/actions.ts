/** Every action of an operation. To add one: a literal of `OperationAction`, a file in `actions/` and a line here. */
import type { OperationAction } from "../records/operations/Operation.ts"
import type { Action } from "./Action.ts"
import { applyConfig } from "./actions/applyConfig.ts"
import { createBranch } from "./actions/createBranch.ts"
import { createCompute } from "./actions/createCompute.ts"
import { deleteCompute } from "./actions/deleteCompute.ts"
import { deleteTimeline } from "./actions/deleteTimeline.ts"
import { resetBranch } from "./actions/resetBranch.ts"
import { startCompute } from "./actions/startCompute.ts"
import { suspendCompute } from "./actions/suspendCompute.ts"

export const actions: Readonly<Record<OperationAction, Action>> = {
  create_timeline: createBranch,
  create_branch: createBranch,
  delete_timeline: deleteTimeline,
  reset_branch: resetBranch,
  create_compute: createCompute,
  start_compute: startCompute,
  suspend_compute: suspendCompute,
  apply_config: applyConfig,
  delete_compute: deleteCompute
}

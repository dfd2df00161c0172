/**
 * Schedules `apply_config` on a branch that runs or starts, within the running transaction, which has locked the branch.
 * A start reads the roles at some moment, so a change during it needs an operation after it.
 */
import { Effect } from "effect"
import type { BranchId } from "../Ids.ts"
import type { Initiator, StoredOperation } from "../operations/Operation.ts"
import { OperationStore } from "../operations/OperationStore.ts"
import { Operations } from "../operations/Operations.ts"
import { EndpointStore } from "../projects/EndpointStore.ts"
import type { Project } from "../projects/Project.ts"

export interface RoleWork {
  readonly project: Pick<Project, "id" | "org_id">
  readonly branch_id: BranchId
  readonly initiator: Initiator
}

export const makeApplyRoles = Effect.gen(function* () {
  const endpoints = yield* EndpointStore
  const operations = yield* Operations
  const pending = yield* OperationStore

  /** Operations after which a compute of the branch has the roles that are valid when they are performed. */
  const applies = (operation: StoredOperation) =>
    operation.action === "apply_config" || operation.action === "start_compute"

  /** The branch's unfinished operations, oldest first, and whether a compute runs. */
  const stateOf = Effect.fnUntraced(function* (branch: BranchId) {
    const unfinished = yield* pending.unfinished(branch)
    const runs = (yield* endpoints.ofBranch(branch)).some((it) => it.current_state === "active")
    return { unfinished, runs, applying: unfinished.findLast(applies) }
  })

  /** `undefined`: nothing runs or starts, so the next start applies the roles. */
  const apply = Effect.fnUntraced(function* ({ branch_id, initiator, project }: RoleWork) {
    const { runs, unfinished } = yield* stateOf(branch_id)
    if (!runs && !unfinished.some((it) => it.action === "start_compute")) return undefined
    return yield* operations.schedule({ project, branch_id, endpoint_id: null, initiator, action: "apply_config" })
  })

  return { apply, stateOf }
})

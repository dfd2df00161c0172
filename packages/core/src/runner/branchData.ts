/** The shared steps of actions that make or replace the data of a branch. */
import { DateTime, Effect, Option } from "effect"
import type { StoredOperation } from "../records/operations/Operation.ts"
import { writesData } from "../records/operations/OperationClass.ts"
import { OperationStore } from "../records/operations/OperationStore.ts"
import { Branch, type BranchState } from "../records/projects/Branch.ts"
import { BranchStore } from "../records/projects/BranchStore.ts"

/** Skips the operation of a deleted branch; waits while the data of the parent is being made or replaced. */
export const beginCopy = Effect.fnUntraced(function* (operation: StoredOperation) {
  if (operation.branch_id === null) return "skip"
  const branch = Option.getOrUndefined(yield* (yield* BranchStore).find(operation.project_id, operation.branch_id))
  if (branch === undefined) return "skip"
  if (branch.parent_id === null) return "go"
  const ofParent = yield* (yield* OperationStore).unfinished(branch.parent_id, { actions: [...writesData], limit: 1 })
  return ofParent.length > 0 ? "wait" : "go"
})

/** The parent of the operation's branch; `None` for a project's first branch and for a deleted one. */
export const parentOf = Effect.fnUntraced(function* ({ branch_id, project_id }: StoredOperation) {
  const branch = branch_id === null ? Option.none() : yield* (yield* BranchStore).find(project_id, branch_id)
  return Option.flatMap(branch, ({ parent_id }) => Option.fromNullOr(parent_id))
})

/** Records the state of the operation's branch, with nothing pending. A deleted branch is left as it is. */
export const settleBranch = Effect.fnUntraced(function* (operation: StoredOperation, current_state: BranchState) {
  const store = yield* BranchStore
  if (operation.branch_id === null) return
  const branch = Option.getOrUndefined(yield* store.lock(operation.project_id, operation.branch_id))
  if (branch !== undefined)
    yield* store.put(new Branch({ ...branch, current_state, pending_state: null, updated_at: yield* DateTime.now }))
})

/**
 * Classes of operations. Each class has its own places on a runner, so neither a wake nor a deletion waits behind a
 * copy, and role work that hangs takes no place of the others.
 */
import { Schema } from "effect"
import type { OperationAction } from "./Operation.ts"

/**
 * `computes` starts and stops them, `roles` changes roles inside them, `branches` makes data, `deletions` stops what runs
 * on a deleted branch, which ends its sessions, and removes its data.
 */
export const OperationClass = Schema.Literals(["computes", "roles", "branches", "deletions"])
export type OperationClass = typeof OperationClass.Type

/** The same table is in the SQL function `operation_class`; a test compares them. */
const classes: Readonly<Record<OperationAction, OperationClass>> = {
  create_compute: "computes",
  start_compute: "computes",
  suspend_compute: "computes",
  delete_compute: "computes",
  apply_config: "roles",
  create_timeline: "branches",
  create_branch: "branches",
  reset_branch: "branches",
  delete_timeline: "deletions"
}

export const classOf = (action: OperationAction): OperationClass => classes[action]

/** Actions whose end changes what a branch contains. A copy of the branch waits for them, and for no others. */
export const writesData: ReadonlySet<OperationAction> = new Set<OperationAction>([
  "create_timeline",
  "create_branch",
  "reset_branch"
])

/**
 * Schedules `apply_config` on a branch that runs or starts, within the running transaction, which has locked the branch.
 * A start reads the roles at some moment, so a change during it needs an operation after it.
 *
 * An `apply_config` that has not begun reads the roles when it does, so it serves for every change before that
 * (docs/design/operations.md O24). Its row stays locked until the change is committed, so it cannot begin before.
 */
import { Effect, Option } from "effect"
import type { BranchId } from "../../Ids.ts"
import type { Initiator, OperationAction } from "../../records/operations/Operation.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import type { Project } from "../../records/projects/Project.ts"
import { Operations } from "../operations/Operations.ts"

export interface RoleWork {
  readonly project: Pick<Project, "id" | "org_id" | "region_id">
  readonly branch_id: BranchId
  readonly initiator: Initiator
}

/** Operations after which a compute of the branch has the roles that are valid when they are performed. */
const applies: ReadonlyArray<OperationAction> = ["apply_config", "start_compute"]

export const makeApplyRoles = Effect.gen(function* () {
  const endpoints = yield* EndpointStore
  const operations = yield* Operations
  const pending = yield* OperationStore

  /** The newest unfinished operation of the branch with one of the actions. */
  const newest = (branch: BranchId, actions: ReadonlyArray<OperationAction>) =>
    Effect.map(pending.unfinished(branch, { actions, limit: 1 }), ([operation]) => operation)

  const runs = (branch: BranchId) =>
    Effect.map(endpoints.ofBranch(branch), (all) => all.some((it) => it.current_state === "active"))

  /** The newest unfinished operation that applies roles. */
  const applying = (branch: BranchId) => newest(branch, applies)

  /** An `apply_config` that has not begun and cannot begin before the commit. */
  const unbegun = Effect.fnUntraced(function* (branch: BranchId) {
    const last = yield* newest(branch, ["apply_config"])
    if (last?.status !== "scheduling") return undefined
    return Option.getOrUndefined(
      Option.filter(yield* pending.lockFree(last.id), ({ status }) => status === "scheduling")
    )
  })

  /** The operation that applies the roles, whether anything runs or not. */
  const applyAlways = Effect.fnUntraced(function* ({ branch_id, initiator, project }: RoleWork) {
    const work = { project, branch_id, endpoint_id: null, initiator, action: "apply_config" as const }
    return (yield* unbegun(branch_id)) ?? (yield* operations.schedule(work))
  })

  /** `undefined`: nothing runs or starts, so the next start applies the roles. */
  const apply = Effect.fnUntraced(function* (work: RoleWork) {
    const live = (yield* runs(work.branch_id)) || (yield* newest(work.branch_id, ["start_compute"])) !== undefined
    return live ? yield* applyAlways(work) : undefined
  })

  return { apply, applyAlways, applying, runs }
})

/** The places that a new branch takes in the quotas of its organization, within the transaction that creates it. */
import { Effect } from "effect"
import type { BranchId } from "../../Ids.ts"
import type { Project } from "../../records/projects/Project.ts"
import type { Quotas } from "../quotas/Quotas.ts"

export interface TakenBranch {
  readonly id: BranchId
  readonly parent_id: BranchId
  readonly expires: boolean
  /** Whether an endpoint is created with it. */
  readonly endpoint: boolean
}

export const takeBranch = Effect.fnUntraced(function* (
  quotas: Quotas["Service"],
  { id: project_id, org_id }: Pick<Project, "id" | "org_id">,
  { endpoint, expires, id, parent_id }: TakenBranch
) {
  const added = { branches: 1, branches_per_project: 1, sandboxes: expires ? 1 : 0, endpoints: endpoint ? 1 : 0 }
  yield* quotas.take(org_id, added, project_id)
  yield* quotas.takeCopy(org_id, { from: parent_id, to: id })
})

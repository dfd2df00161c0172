/** The preparations of the contracts of `QuotaStore`. */
import { Effect } from "effect"
import type { OrgId, ProjectId } from "../../src/Ids.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import type { Branch } from "../../src/records/projects/Branch.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import type { QuotaName } from "../../src/records/quotas/Quota.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import { aBranch, anOrganization, aProject, at } from "../records.ts"

export const held = (org_id: OrgId, quota: QuotaName, project_id: ProjectId | null = null, seconds = 0) =>
  QuotaStore.use((store) =>
    Effect.map(store.held({ org_id, project_id, now: at(seconds) }, [quota]), (amounts) => amounts[quota])
  )

export const aTeam = Effect.gen(function* () {
  const organization = anOrganization()
  yield* (yield* AccountStore).putOrganization(organization)
  return organization.id
})

export const aProjectOf = Effect.fnUntraced(function* (org_id: OrgId) {
  const project = aProject({ org_id })
  yield* (yield* ProjectStore).insert(project)
  return project.id
})

export const aBranchOf = Effect.fnUntraced(function* (project: ProjectId, rest: Partial<Branch> = {}) {
  const branch = aBranch(project, rest)
  yield* (yield* BranchStore).put(branch)
  return branch
})

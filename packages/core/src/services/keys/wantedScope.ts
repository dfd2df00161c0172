/** The scope that a caller wants for a key, looked up in its organization. */
import { Effect, Option } from "effect"
import { BranchId, type OrgId, ProjectId, requestedId } from "../../Ids.ts"
import { InvalidMember } from "../../Refusals.ts"
import type { BranchStore } from "../../records/projects/BranchStore.ts"
import type { ProjectStore } from "../../records/projects/ProjectStore.ts"

/** One refusal, whether the object is foreign, invented or malformed. */
export const unknownScope = (member: string) =>
  new InvalidMember({ path: ["scope", member], reason: "There is no such object in this organization." })

/** A scope as a caller names it. The ids in it may not exist. */
export type WantedScope =
  | { readonly type: "organization" }
  | { readonly type: "project"; readonly project_id: string }
  | { readonly type: "branch"; readonly project_id?: string; readonly branch_id: string }

/** The scope, if every object that it names is in the organization. */
export const resolvingScope = (projects: ProjectStore["Service"], branches: BranchStore["Service"]) =>
  Effect.fn("ApiKeys.resolveScope")(function* (org: OrgId, scope: WantedScope) {
    if (scope.type === "organization") return scope
    if (scope.type === "project") {
      const project = yield* projects.find(org, requestedId(ProjectId, scope.project_id))
      if (Option.isNone(project)) return yield* unknownScope("project_id")
      return { type: "project" as const, project_id: project.value.id }
    }
    const branch = Option.getOrUndefined(yield* branches.findAnywhere(requestedId(BranchId, scope.branch_id)))
    const home = branch === undefined ? Option.none() : yield* projects.find(org, branch.project_id)
    if (branch === undefined || Option.isNone(home)) return yield* unknownScope("branch_id")
    if (scope.project_id !== undefined && scope.project_id !== branch.project_id)
      return yield* unknownScope("project_id")
    return { type: "branch" as const, project_id: branch.project_id, branch_id: branch.id }
  })

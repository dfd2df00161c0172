/** The branch of a command: the argument or `--branch`, else that of the `.narthex` file, else the default branch. */
import { type BranchId, type ProjectId, parseBranchId } from "@narthex/api"
import { Effect, Option } from "effect"
import { withBody } from "../connection/answers.ts"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { Output } from "../output/Output.ts"
import type { ChosenProject } from "./projects.ts"
import { type Kind, objectsOf, resolve, type Wanted } from "./resolve.ts"

const branches: Kind = { one: "branch", many: "branches", list: "narthex branch list" }

/** The id of the branch that the user gave, else of the default. */
export const chooseBranch = Effect.fn("chooseBranch")(function* (
  api: AuthenticatedApi,
  project: ChosenProject,
  given: Option.Option<string>
) {
  const wanted = Option.isSome(given) ? { name: given.value } : project.branch
  if (wanted !== undefined) return yield* branchNamed(api, project.id, wanted)
  const read = yield* api.client.api.projects.get({ params: { project_id: project.id } })
  return read.project.default_branch_id
})

/** The id of the project's branch with this id or name. */
export const branchNamed = Effect.fnUntraced(function* (
  api: AuthenticatedApi,
  project_id: ProjectId,
  wanted: Wanted
): Effect.fn.Return<BranchId, Effect.Error<ReturnType<typeof named>>> {
  const id = parseBranchId(wanted.name)
  return Option.isSome(id) ? id.value : (yield* named(api, project_id, wanted)).id
})

const named = Effect.fnUntraced(function* (api: AuthenticatedApi, project_id: ProjectId, wanted: Wanted) {
  return yield* resolve(branches, wanted, yield* branchesOf(api, project_id))
})

/**
 * The names of the project's branches by their ids, for a table. Empty where a format prints ids, and for a key that may not
 * list branches.
 */
export const branchNames = Effect.fnUntraced(function* (api: AuthenticatedApi, project_id: ProjectId) {
  const printsTable = yield* (yield* Output).printsTable
  const listed = printsTable ? Effect.orElseSucceed(branchesOf(api, project_id), () => none) : Effect.succeed(none)
  return new Map((yield* listed).objects.map(({ branch }) => [branch.id, branch.name]))
})

const none = { objects: [] }

/** The branches of the project, for looking up names. */
export const branchesOf = ({ client }: AuthenticatedApi, project_id: ProjectId) =>
  objectsOf(
    "branches",
    (query) => client.api.branches.list({ params: { project_id }, query, ...withBody }),
    (branch) => ({ id: branch.id, names: [branch.name], branch })
  )

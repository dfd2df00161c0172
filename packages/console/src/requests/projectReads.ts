/** Reads that several pages of a project need (docs/design/console.md W49). */
import type { BranchId, ProjectId } from "@narthex/api"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { calling } from "../api/ApiRefusal.ts"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { BranchShown, OperationShown } from "../views/records.ts"
import { visitorAddress } from "../web/visitorAddress.ts"
import type { ProjectAsked, ProjectVisit } from "./inProject.ts"
import { peopleOf } from "./loadNames.ts"

/** The most endpoints that a page reads, newest first. */
export const mostRead = 1000

export const readEndpoints = ({ params }: ProjectAsked) =>
  Effect.map(
    calling((api) => api.endpoints.list({ params, query: { limit: mostRead } })),
    ({ endpoints }) => endpoints
  )

/** A branch, which may be older than those that were read with its project. */
export const branchOf = (
  params: { readonly project_id: ProjectId; readonly branch_id: BranchId },
  known: ReadonlyArray<BranchShown>
) => {
  const found = known.find(({ id }) => id === params.branch_id)
  return found === undefined
    ? Effect.map(
        calling((api) => api.branches.get({ params })),
        ({ branch }): BranchShown => branch
      )
    : Effect.succeed(found)
}

/** The branch that a form starts with: the wanted one if it exists, else the default one. */
export const branchWanted = (
  wanted: string | null,
  project: ProjectVisit["project"],
  branches: ReadonlyArray<{ readonly id: string }>
): string => branches.find(({ id }) => id === wanted)?.id ?? project.default_branch_id ?? branches[0]?.id ?? ""

/** The visitor's address, as allowlists see it; `null`: it cannot be read. The console reads it as the API does (W10). */
export const readOwnAddress = Effect.gen(function* () {
  const { trusted_hops } = yield* ConsoleSettings
  return visitorAddress(yield* HttpServerRequest.HttpServerRequest, trusted_hops)
})

/** The names of the people who began the operations. Names of people other than the visitor cost a call. */
export const readPeople = Effect.fnUntraced(function* (
  { frame }: ProjectVisit,
  operations: ReadonlyArray<OperationShown>
) {
  const own = new Map(frame.user.name === null ? [] : [[frame.user.id, frame.user.name]])
  const byOthers = operations.some(({ initiator }) => initiator?.type === "user" && initiator.id !== frame.user.id)
  return byOthers ? new Map([...(yield* peopleOf(frame.organization.id)), ...own]) : own
})

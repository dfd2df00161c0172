/**
 * The names of the project and the branch of an event, for a person who reads them at a terminal. Each name is read once.
 * An object that is gone, or that the credential may not read, has none.
 */
import { BranchId, type Envelope, type ProjectId } from "@narthex/api"
import { Effect, Option, Schema } from "effect"
import type { AuthenticatedApi } from "../connection/Connection.ts"

export interface EventNames {
  readonly project: string | undefined
  readonly branch: string | undefined
}

const branchIdOf = Schema.decodeUnknownOption(BranchId)

export const makeEventNames = ({ client: { api } }: AuthenticatedApi) => {
  const known = new Map<string, string | undefined>()
  const nameOf = <E>(id: string, asked: Effect.Effect<{ readonly name: string }, E>) =>
    Effect.gen(function* () {
      if (!known.has(id)) known.set(id, Option.getOrUndefined(yield* Effect.option(asked))?.name)
      return known.get(id)
    })
  const branchOf = (project_id: ProjectId, branch_id: BranchId) =>
    nameOf(
      branch_id,
      Effect.map(api.branches.get({ params: { project_id, branch_id } }), ({ branch }) => branch)
    )
  return Effect.fnUntraced(function* ({ data, project_id }: Envelope) {
    if (project_id === undefined) return { project: undefined, branch: undefined } satisfies EventNames
    const project = yield* nameOf(
      project_id,
      Effect.map(api.projects.get({ params: { project_id } }), (answer) => answer.project)
    )
    const branch_id = branchIdOf(data["branch_id"])
    const branch = Option.isSome(branch_id) ? yield* branchOf(project_id, branch_id.value) : undefined
    return { project, branch } satisfies EventNames
  })
}

/** Looks up the names in sentences about events, with a bounded number of calls: 2, and one for each of a few projects. */
import { type ProjectId, parseOrgId } from "@narthex/api"
import { Effect } from "effect"
import { calling, idOrNotFound } from "../api/ApiRefusal.ts"
import type { Names } from "../views/eventWords.ts"

/** The largest page of a list. Names beyond it stay short ids. */
const everything = { limit: 1000 }

/** Of more projects, the branches of the rest stay short ids. */
export const searchedProjects = 6

/** `projects`: those whose branches are named, the most important first. A project that is gone has no branches. */
export const loadNames = Effect.fnUntraced(function* (org_id: string, projects: Iterable<ProjectId>) {
  const searched = [...new Set(projects)].slice(0, searchedProjects)
  const [{ projects: known }, people, branches] = yield* Effect.all(
    [
      calling((api) => api.projects.list({ query: everything })),
      peopleOf(org_id),
      Effect.forEach(
        searched,
        (project_id) =>
          calling((api) => api.branches.list({ params: { project_id }, query: everything })).pipe(
            Effect.map((answer) => answer.branches),
            Effect.catchTag("ApiRefused", () => Effect.succeed([]))
          ),
        { concurrency: "unbounded" }
      )
    ],
    { concurrency: "unbounded" }
  )
  const names: Names = {
    projects: new Map(known.map(({ id, name }) => [id, name])),
    branches: new Map(branches.flat().map(({ id, name, parent_id }) => [id, { name, parent_id }])),
    people
  }
  return names
})

const peopleOf = (org_id: string) =>
  Effect.gen(function* () {
    const id = yield* idOrNotFound(parseOrgId(org_id))
    const { members } = yield* calling((api) => api.orgs.members({ params: { org_id: id }, query: everything }))
    return new Map(
      members.flatMap(({ email, name, user_id }) => {
        const shown = name ?? email
        return shown === null ? [] : [[user_id as string, shown] as const]
      })
    )
  })

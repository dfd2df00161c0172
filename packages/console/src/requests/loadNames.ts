/** Looks up the names in sentences about events, with a bounded number of calls: 2, and one or two for each of a few projects. */
import { type ProjectId, parseOrgId } from "@narthex/api"
import { Effect } from "effect"
import { calling, idOrNotFound } from "../api/ApiRefusal.ts"
import type { Names } from "../views/eventWords.ts"

/** So many projects and members are read: the newest. */
const named = { limit: 100 }

/** All branches of a project, because the one that others are copied from is its oldest. Names beyond it stay short ids. */
const everyBranch = { limit: 1000 }

/** Of more projects, the branches of the rest stay short ids. */
export const searchedProjects = 6

/** `projects`: those whose branches are named, the most important first. A project that is gone has no branches. */
export const loadNames = Effect.fnUntraced(function* (org_id: string, projects: Iterable<ProjectId>) {
  const searched = [...new Set(projects)].slice(0, searchedProjects)
  const [{ projects: newest }, people, branches] = yield* Effect.all(
    [
      calling((api) => api.projects.list({ query: named })),
      peopleOf(org_id),
      Effect.forEach(
        searched,
        (project_id) =>
          calling((api) => api.branches.list({ params: { project_id }, query: everyBranch })).pipe(
            Effect.map((answer) => answer.branches),
            Effect.catchTag("ApiRefused", () => Effect.succeed([]))
          ),
        { concurrency: "unbounded" }
      )
    ],
    { concurrency: "unbounded" }
  )
  const older = yield* Effect.forEach(
    searched.filter((project_id) => !newest.some(({ id }) => id === project_id)),
    (project_id) =>
      calling((api) => api.projects.get({ params: { project_id } })).pipe(
        Effect.map(({ project }) => [project]),
        Effect.catchTag("ApiRefused", () => Effect.succeed([]))
      ),
    { concurrency: "unbounded" }
  )
  const known = [...newest, ...older.flat()]
  const names: Names = {
    projects: new Map(known.map(({ id, name }) => [id, name])),
    branches: new Map(branches.flat().map(({ id, name, parent_id }) => [id, { name, parent_id }])),
    people
  }
  return names
})

/** The names of the newest members, by their ids. Other people are shown by the name that their deed has. */
export const peopleOf = (org_id: string) =>
  Effect.gen(function* () {
    const id = yield* idOrNotFound(parseOrgId(org_id))
    const { members } = yield* calling((api) => api.orgs.members({ params: { org_id: id }, query: named }))
    return new Map(
      members.flatMap(({ email, name, user_id }) => {
        const shown = name ?? email
        return shown === null ? [] : [[user_id as string, shown] as const]
      })
    )
  })

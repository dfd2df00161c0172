/** Serves `ProjectsApi` from the core. */
import { Api, RegionImmutableProblem, wantsAnotherRegion } from "@narthex/api"
import {
  Overviews,
  Principal,
  type Project,
  Projects,
  type ProjectUse,
  ProjectView,
  Target,
  viewBranch
} from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { projectParts } from "./projectParts.ts"
import { endpointRecord, operationRecords, pageOf } from "./records.ts"

type Included = "endpoint" | "branches"

/** A project of a list with what the query includes. A project that was just deleted has nothing. */
const withUse = (project: Project, include: ReadonlyArray<Included>, use: Partial<ProjectUse> = {}) => {
  const { branches_count = 0, endpoint = null, last_used_at = null, size_bytes = null } = use
  return Effect.map(endpoint === null ? Effect.succeed(null) : endpointRecord(endpoint), (record) => ({
    ...ProjectView.of(project),
    ...(include.includes("endpoint") ? { endpoint: record, last_used_at } : {}),
    ...(include.includes("branches") ? { branches_count, size_bytes } : {})
  }))
}

export const ProjectsHandlers = HttpApiBuilder.group(
  Api,
  "projects",
  Effect.fn(function* (handlers) {
    const overviews = yield* Overviews
    const projects = yield* Projects
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const caller = yield* Principal
        const { items, next_cursor } = yield* problems(projects.list(caller, page))
        const pagination = { next_cursor }
        const { include = [] } = query
        if (include.length === 0) return { projects: items.map(ProjectView.of), pagination }
        const uses = yield* problems(overviews.ofProjects(caller, items))
        const shown = yield* Effect.forEach(items, (project) => withUse(project, include, uses.get(project.id)))
        return { projects: shown, pagination }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const made = yield* problems(projects.create(yield* Principal, payload))
        return {
          project: ProjectView.of(made.project),
          branch: viewBranch(made.branch),
          endpoint: yield* endpointRecord(made.endpoint),
          operations: operationRecords(made.operations)
        }
      }),
      get: () => Effect.map(Target.project, (project) => ({ project: ProjectView.of(project) })),
      overview: Effect.fnUntraced(function* ({ query: { include = [] } }) {
        const project = yield* Target.project
        return { project: ProjectView.of(project), ...(yield* projectParts(overviews, project, include)) }
      }),
      rename: Effect.fnUntraced(function* ({ payload }) {
        if (wantsAnotherRegion(payload)) return yield* new RegionImmutableProblem({})
        const changed = yield* problems(projects.change(yield* Target.project, payload))
        return { project: ProjectView.of(changed) }
      }),
      delete: Effect.fnUntraced(function* () {
        const operations = yield* problems(projects.remove(yield* Principal, yield* Target.project))
        return { operations: operationRecords(operations) }
      })
    })
  })
)

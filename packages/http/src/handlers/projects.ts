/** Serves `ProjectsApi` from the core. */
import { Api, RegionImmutableProblem, wantsAnotherRegion } from "@narthex/api"
import { Principal, Projects, ProjectView, Target, viewBranch } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { endpointRecord, operationRecords, pageOf } from "./records.ts"

export const ProjectsHandlers = HttpApiBuilder.group(
  Api,
  "projects",
  Effect.fn(function* (handlers) {
    const projects = yield* Projects
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(projects.list(yield* Principal, page))
        return { projects: items.map(ProjectView.of), pagination: { next_cursor } }
      }),
      create: Effect.fnUntraced(function* ({ payload: { name, region = null } }) {
        const made = yield* problems(projects.create(yield* Principal, { name, region }))
        return {
          project: ProjectView.of(made.project),
          branch: viewBranch(made.branch),
          endpoint: yield* endpointRecord(made.endpoint),
          operations: operationRecords(made.operations)
        }
      }),
      get: () => Effect.map(Target.project, (project) => ({ project: ProjectView.of(project) })),
      rename: Effect.fnUntraced(function* ({ payload }) {
        if (wantsAnotherRegion(payload)) return yield* new RegionImmutableProblem({})
        const project = yield* Target.project
        const renamed = yield* problems(projects.rename(project, payload.name ?? project.name))
        return { project: ProjectView.of(renamed) }
      }),
      delete: Effect.fnUntraced(function* () {
        const operations = yield* problems(projects.remove(yield* Principal, yield* Target.project))
        return { operations: operationRecords(operations) }
      })
    })
  })
)

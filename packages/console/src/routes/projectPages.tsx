/** What the pages of projects show, gathered from the API. */
import { Effect, type Option } from "effect"
import { parseProjectId } from "@narthex/api"
import { ApiRefused, calling } from "../ApiRefusal.ts"
import { noticeIn } from "../notices.ts"
import { newFormToken, type Visit } from "../organization.tsx"
import type { AllowlistDraft, AllowlistEditorProps } from "../views/Allowlist.tsx"
import { ProjectPage } from "../views/Project.tsx"
import { NewProjectPage, type NewProjectPageProps, ProjectsPage } from "../views/Projects.tsx"
import { page } from "../web/answer.tsx"

/** An id goes into a path of the API only if it could be one. */
export const known = <Id,>(id: Option.Option<Id>): Effect.Effect<Id, ApiRefused> =>
  Effect.fromOption(id).pipe(
    Effect.mapError(() => new ApiRefused({ status: 404, code: "not_found", detail: "Not found." }))
  )

export const projectOf = (visit: Visit) => known(parseProjectId(visit.param("project_id")))

export const projectsPage = Effect.fnUntraced(function* (visit: Visit) {
  const cursor = visit.query.get("cursor")
  const { pagination, projects } = yield* calling((api) =>
    api.projects.list({ query: cursor === null ? {} : { cursor } })
  )
  return page(
    <ProjectsPage
      frame={visit.frame}
      projects={projects}
      next_cursor={pagination.next_cursor}
      notice={noticeIn(visit.query)}
    />
  )
})

/** The catalog's default is preselected; the person may choose otherwise, or leave it to the API. */
export const newProjectPage = Effect.fnUntraced(function* (
  visit: Visit,
  given?: Pick<NewProjectPageProps, "draft" | "errors">
) {
  const { regions } = yield* calling((api) => api.regions.list({}))
  const preselected = regions.find((region) => region.default)?.region_id ?? ""
  return page(
    <NewProjectPage
      frame={visit.frame}
      regions={regions}
      draft={given?.draft ?? { name: "", region: preselected }}
      errors={given?.errors ?? {}}
      form_token={newFormToken()}
    />,
    { status: given === undefined ? 200 : 422 }
  )
})

export const emptyDraft: AllowlistDraft = { cidr: "", label: "", hours: "" }

export interface GivenToProject {
  readonly status: number
  readonly allowlist?: Pick<AllowlistEditorProps, "draft" | "errors">
  readonly problem?: string
}

export const projectPage = Effect.fnUntraced(function* (visit: Visit, given: GivenToProject = { status: 200 }) {
  const project_id = yield* projectOf(visit)
  const params = { project_id }
  const [{ project }, { branches }, { endpoints }, { operations }, allowlist] = yield* Effect.all(
    [
      calling((api) => api.projects.get({ params })),
      calling((api) => api.branches.list({ params, query: {} })),
      calling((api) => api.endpoints.list({ params, query: {} })),
      calling((api) => api.operations.list({ params, query: { limit: 20 } })),
      calling((api) => api.ipAllow.list({ params }))
    ],
    { concurrency: "unbounded" }
  )
  return page(
    <ProjectPage
      frame={visit.frame}
      project={project}
      branches={branches}
      endpoints={endpoints}
      operations={operations}
      allowlist={{ allowlist, draft: emptyDraft, ...given.allowlist }}
      form_token={newFormToken()}
      notice={noticeIn(visit.query)}
      problem={given.problem}
    />,
    { status: given.status }
  )
})

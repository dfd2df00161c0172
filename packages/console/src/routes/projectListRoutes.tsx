/** The projects of an organization: list and create. */
import { CreateProject } from "@narthex/api"
import { Effect } from "effect"
import { type ApiRefused, calling, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { inOrganization, type Visit } from "../requests/Visit.ts"
import { NewProjectPage, type NewProjectPageProps, ProjectsPage } from "../views/Projects.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const projectsPage = Effect.fnUntraced(function* (visit: Visit) {
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

/** The catalog's default region is preselected. */
const newProjectPage = Effect.fnUntraced(function* (
  visit: Visit,
  state?: Pick<NewProjectPageProps, "draft" | "errors">
) {
  const { regions } = yield* calling((api) => api.regions.list({}))
  const preselected = regions.find((region) => region.default)?.region_id ?? ""
  return page(
    <NewProjectPage
      frame={visit.frame}
      regions={regions}
      draft={state?.draft ?? { name: "", region: preselected }}
      errors={state?.errors ?? {}}
      form_token={newFormToken()}
    />,
    { status: state === undefined ? 200 : 422 }
  )
})

const errorsIn = (refusal: ApiRefused) => {
  if (refusal.code === "region_required") return { region: "Choose a region. There is more than one." }
  if (refusal.code === "region_unknown") return { region: refusal.detail }
  const name = refusal.about("name")
  return name === undefined ? { form: refusal.detail } : { name: `Invalid name: ${name}.` }
}

const correctable = refusedWith(
  "invalid_request",
  "region_required",
  "region_unknown",
  "conflict",
  "idempotency_conflict"
)

const create = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft = { name: form.text("name"), region: form.text("region") }
    return yield* Effect.gen(function* () {
      const body = yield* payload(CreateProject, {
        name: draft.name,
        ...(draft.region === "" ? {} : { region: draft.region })
      })
      const { project } = yield* callOnce(form)(calling((api) => api.projects.create({ payload: body })))
      return seeOther(withNotice(`${visit.home}/projects/${project.id}`, "project-created"))
    }).pipe(Effect.catchIf(correctable, (refusal) => newProjectPage(visit, { draft, errors: errorsIn(refusal) })))
  })
)

const path = "/orgs/:org_id/projects"

export const projectListRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: inOrganization(projectsPage) },
  { method: "POST", path, answer: create },
  { method: "GET", path: `${path}/new`, answer: inOrganization((visit) => newProjectPage(visit)) }
]

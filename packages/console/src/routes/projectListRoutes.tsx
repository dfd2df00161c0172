/** The projects of an organization: list and create. */
import { CreateProject } from "@narthex/api"
import { Effect } from "effect"
import { type ApiRefused, calling, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload } from "../api/payload.ts"
import { readSizes } from "../api/readSizes.ts"
import type { FieldError } from "../components/ErrorSummary.tsx"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { type Asked, inOrganization, inOrganizationReading, type Visit } from "../requests/Visit.ts"
import { NewProjectPage, type ProjectDraft } from "../views/NewProject.tsx"
import { ProjectsPage, type ProjectsPageProps } from "../views/Projects.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

/** Projects of a page. */
const pageSize = 20

const include = ["endpoint", "branches"] as const

/** The names that one call reads, and how many of those that match are shown. */
const searched = 1000
const mostFound = 100

type Listed = Pick<ProjectsPageProps, "projects" | "next_cursor" | "name" | "left_out">

const findProjects = Effect.fnUntraced(function* (name: string) {
  const { pagination, projects } = yield* calling((api) => api.projects.list({ query: { limit: searched, include } }))
  const found = projects.filter((project) => project.name.toLowerCase().includes(name.toLowerCase()))
  const more = found.length > mostFound ? `Of ${found.length} projects, the newest ${mostFound} are shown.` : null
  const older = pagination.next_cursor === null ? null : "Only the newest 1,000 projects were searched."
  const listed: Listed = { projects: found.slice(0, mostFound), next_cursor: null, name, left_out: more ?? older }
  return listed
})

const readProjects = ({ query }: Asked) => {
  const name = query.get("name")?.trim() ?? ""
  if (name !== "") return findProjects(name)
  const cursor = query.get("cursor")
  const wanted = { limit: pageSize, include, ...(cursor === null ? {} : { cursor }) }
  return Effect.map(
    calling((api) => api.projects.list({ query: wanted })),
    ({ pagination, projects }): Listed => ({ projects, next_cursor: pagination.next_cursor, name, left_out: null })
  )
}

const list = inOrganizationReading(readProjects, ({ frame, query }, projects) =>
  Effect.succeed(page(<ProjectsPage frame={frame} {...projects} notice={noticeIn(query)} />))
)

interface NewState {
  readonly status: number
  readonly draft: ProjectDraft
  readonly errors?: ReadonlyArray<FieldError>
  readonly problem?: string
}

/** The catalog's default region is preselected. */
const newProjectPage = Effect.fnUntraced(function* (visit: Visit, state?: NewState) {
  const reads = [calling((api) => api.regions.list({})), readSizes] as const
  const [{ regions }, sizes] = yield* Effect.all(reads, { concurrency: reads.length })
  const preselected = regions.find((region) => region.default)?.region_id ?? ""
  return page(
    <NewProjectPage
      frame={visit.frame}
      regions={regions}
      sizes={sizes}
      draft={state?.draft ?? { name: "", region: preselected, size: "" }}
      errors={state?.errors ?? []}
      problem={state?.problem}
      form_token={newFormToken()}
    />,
    { status: state?.status ?? 200 }
  )
})

const errorsIn = (refusal: ApiRefused): Pick<NewState, "errors" | "problem"> => {
  if (refusal.code === "region_required")
    return { errors: [{ field: "region", sentence: "Choose a region. There is more than one." }] }
  if (refusal.code === "region_unknown") return { errors: [{ field: "region", sentence: refusal.detail }] }
  if (refusal.about("size") !== undefined) return { errors: [{ field: "size", sentence: refusal.detail }] }
  return refusal.about("name") === undefined
    ? { problem: refusal.detail }
    : { errors: [{ field: "name", sentence: "Use 1 to 128 characters and no control characters." }] }
}

const correctable = refusedWith(
  "invalid_request",
  "region_required",
  "region_unknown",
  "quota_exceeded",
  "rate_limited",
  "role_insufficient",
  "conflict",
  "idempotency_conflict",
  "idempotency_in_progress"
)

const create = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft = { name: form.text("name"), region: form.text("region"), size: form.text("size") }
    return yield* Effect.gen(function* () {
      const body = yield* payload(CreateProject, {
        name: draft.name,
        ...(draft.region === "" ? {} : { region: draft.region }),
        ...(draft.size === "" ? {} : { size: draft.size })
      })
      const { project } = yield* callOnce(form)(calling((api) => api.projects.create({ payload: body })))
      return seeOther(withNotice(`${visit.home}/projects/${project.id}`, "project-created"))
    }).pipe(
      Effect.catchIf(correctable, (refusal) =>
        newProjectPage(visit, { status: refusal.status, draft, ...errorsIn(refusal) })
      )
    )
  })
)

const path = "/orgs/:org_id/projects"

export const projectListRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: list },
  { method: "POST", path, answer: create },
  { method: "GET", path: `${path}/new`, answer: inOrganization((visit) => newProjectPage(visit)) }
]

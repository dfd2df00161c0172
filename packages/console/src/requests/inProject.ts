/** A request for a page of a project, or for a form on one. A project that the person cannot see: 404. */
import { type ProjectId, parseBranchId, parseEndpointId, parseProjectId } from "@narthex/api"
import { Effect } from "effect"
import { calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import type { ProjectShown } from "../views/records.ts"
import { seeOther } from "../web/answer.tsx"
import type { Form } from "../web/Form.ts"
import { type NoticeName, noticeIn, withNotice } from "./notices.ts"
import { type Asked, type inOrganization, inOrganizationReading, type Read, type Visit } from "./Visit.ts"

type Answer = ReturnType<Parameters<typeof inOrganization>[0]>

export interface ProjectVisit extends Visit {
  readonly project: ProjectShown
  readonly params: { readonly project_id: ProjectId }
  /** `/orgs/{org_id}/projects/{project_id}` */
  readonly here: string
}

/** What a page shows after a form: its status, and why nothing was done. */
export interface Refused {
  readonly status: number
  readonly problem?: string
}

export const shown: Refused = { status: 200 }

/** What is known of a visit to a project before the API has answered anything. */
export type ProjectAsked = Asked & Pick<ProjectVisit, "params">

const projectIn = ({ param }: Asked) => idOrNotFound(parseProjectId(param("project_id")))

/** As `inOrganizationReading`. A page whose reads need the project itself reads them in its handler. */
export const inProjectReading = <A>(
  read: (asked: ProjectAsked) => ReturnType<Read<A>>,
  handler: (visit: ProjectVisit, read: A) => Answer
) =>
  inOrganizationReading(
    (asked) => Effect.flatMap(projectIn(asked), (project_id) => read({ ...asked, params: { project_id } })),
    (visit, answers) =>
      Effect.gen(function* () {
        const project_id = yield* projectIn(visit)
        const params = { project_id }
        const listed = visit.projects.find(({ id }) => id === project_id)
        const project = listed ?? (yield* calling((api) => api.projects.get({ params }))).project
        return yield* handler({ ...visit, project, params, here: `${visit.home}/projects/${project_id}` }, answers)
      })
  )

export const inProject = (handler: (visit: ProjectVisit) => Answer) => inProjectReading(() => Effect.void, handler)

/** The props that every page of a project has. */
export const propsOf = (visit: ProjectVisit, { problem }: Refused = shown) => ({
  frame: visit.frame,
  project: visit.project,
  notice: problem === undefined ? noticeIn(visit.query) : undefined,
  problem
})

export const branchIn = (visit: ProjectVisit) =>
  Effect.map(idOrNotFound(parseBranchId(visit.param("branch_id"))), (branch_id) => ({ ...visit.params, branch_id }))

export const endpointIn = (visit: ProjectVisit) =>
  Effect.map(idOrNotFound(parseEndpointId(visit.param("endpoint_id"))), (endpoint_id) => ({
    ...visit.params,
    endpoint_id
  }))

/** Redirects to a page, which shows the notice once. */
export const done = (path: string, notice: NoticeName) => seeOther(withNotice(path, notice))

/** The page of this project that the form names; any other text is ignored. */
export const returnTo = (visit: ProjectVisit, form: Form, otherwise: string): string => {
  const path = form.text("return_to")
  const below = path.startsWith(`${visit.here}/`) && /^[A-Za-z0-9/_-]*$/.test(path.slice(visit.here.length))
  return path === visit.here || below ? path : otherwise
}

const now = [
  "conflict",
  "resource_busy",
  "unavailable",
  "quota_exceeded",
  "idempotency_conflict",
  "idempotency_in_progress",
  "role_insufficient"
]

/** The API did nothing, for now or because of what exists. The page says why. */
export const refusedNow = refusedWith(...now)

/** The same, or what was to be deleted is gone. */
export const refusedOrGone = refusedWith(...now, "not_found")

/** The same, or the input can be corrected. */
export const refusedInput = refusedWith(...now, "invalid_request", "malformed_cidr")

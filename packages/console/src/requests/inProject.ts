/** A request for a page of a project, or for a form on one. A project that the person cannot see: 404. */
import { type ProjectId, type ProjectOverview, parseBranchId, parseEndpointId, parseProjectId } from "@narthex/api"
import { Effect } from "effect"
import { idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { inMenu } from "../shell/Frame.ts"
import type { ProjectShown } from "../views/records.ts"
import { seeOther } from "../web/answer.tsx"
import type { Form } from "../web/Form.ts"
import { type NoticeName, noticeIn, withNotice } from "./notices.ts"
import { type Overview, type ProjectPart, readOverview } from "./readOverview.ts"
import { type Asked, type inOrganization, inOrganizationReading, type Read, type Visit } from "./Visit.ts"

type Answer = ReturnType<Parameters<typeof inOrganization>[0]>

export interface ProjectVisit extends Visit {
  readonly project: ProjectShown
  readonly params: { readonly project_id: ProjectId }
  /** `/orgs/{org_id}/projects/{project_id}` */
  readonly here: string
}

/** The status of a page after a form, and why nothing was done. */
export interface Refused {
  readonly status: number
  readonly problem?: string
}

export const shown: Refused = { status: 200 }

/** The parts of a visit to a project that are known before the API has answered. */
export type ProjectAsked = Asked & Pick<ProjectVisit, "params">

const projectIn = ({ param }: Asked) => idOrNotFound(parseProjectId(param("project_id")))

/** A page of a branch has the branches to switch to, from those that it has read. */
const visiting = (visit: Visit, { branches = [], project }: ProjectOverview): ProjectVisit => ({
  ...visit,
  frame: { ...visit.frame, branches: branches.slice(0, inMenu) },
  project,
  params: { project_id: project.id },
  here: `${visit.home}/projects/${project.id}`
})

/**
 * As `inOrganizationReading`, with the project and these parts of it in one call, which runs beside the others.
 *
 * `read`: what the page needs from other calls.
 */
export const inProjectReading = <const P extends ProjectPart, A>(
  parts: ReadonlyArray<P>,
  read: (asked: ProjectAsked) => ReturnType<Read<A>>,
  handler: (visit: ProjectVisit, overview: Overview<P>, read: A) => Answer
) =>
  inOrganizationReading(
    (asked) =>
      Effect.flatMap(projectIn(asked), (project_id) => {
        const params = { project_id }
        return Effect.all([readOverview(params, parts), read({ ...asked, params })], { concurrency: "unbounded" })
      }),
    (visit, [overview, answers]) => handler(visiting(visit, overview), overview, answers),
    { projects: true }
  )

/** A page that needs nothing but these parts of its project. */
export const inProjectWith = <const P extends ProjectPart>(
  parts: ReadonlyArray<P>,
  handler: (visit: ProjectVisit, overview: Overview<P>) => Answer
) => inProjectReading(parts, () => Effect.void, handler)

export const inProject = (handler: (visit: ProjectVisit) => Answer) => inProjectWith([], handler)

/** Reads the project once more, for a page that is shown after a form. */
export const visitAgain = <const P extends ProjectPart>(visit: ProjectVisit, parts: ReadonlyArray<P>) =>
  Effect.map(readOverview(visit.params, parts), (overview) => [visiting(visit, overview), overview] as const)

/** The props that every page of a project has. */
export const propsOf = (visit: ProjectVisit, { problem }: Refused = shown) => ({
  frame: visit.frame,
  project: visit.project,
  notice: problem === undefined ? noticeIn(visit.query) : undefined,
  problem
})

export const branchIn = (visit: Asked & Pick<ProjectVisit, "params">) =>
  Effect.map(idOrNotFound(parseBranchId(visit.param("branch_id"))), (branch_id) => ({ ...visit.params, branch_id }))

export const endpointIn = (visit: Asked & Pick<ProjectVisit, "params">) =>
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

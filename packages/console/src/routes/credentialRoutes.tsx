/** The page of a branch's database credentials, and the form that revokes one. */
import { parseBranchId, parseProjectId } from "@narthex/api"
import { Effect } from "effect"
import { calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { inOrganization, type Visit } from "../requests/Visit.ts"
import { CredentialsPage } from "../views/Credentials.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const branchOf = (visit: Visit) =>
  Effect.all({
    project_id: idOrNotFound(parseProjectId(visit.param("project_id"))),
    branch_id: idOrNotFound(parseBranchId(visit.param("branch_id")))
  })

interface State {
  readonly status: number
  readonly problem?: string
}

const credentialsPage = Effect.fnUntraced(function* (visit: Visit, state: State = { status: 200 }) {
  const params = yield* branchOf(visit)
  const cursor = visit.query.get("cursor")
  const [{ project }, { branch }, { credentials, pagination }] = yield* Effect.all(
    [
      calling((api) => api.projects.get({ params })),
      calling((api) => api.branches.get({ params })),
      calling((api) => api.branches.credentials({ params, query: cursor === null ? {} : { cursor } }))
    ],
    { concurrency: "unbounded" }
  )
  return page(
    <CredentialsPage
      frame={visit.frame}
      project={project}
      branch={branch}
      credentials={credentials}
      next_cursor={pagination.next_cursor}
      notice={noticeIn(visit.query)}
      problem={state.problem}
    />,
    { status: state.status }
  )
})

/** The form of a role's name. Only such a text may become part of a path. */
const roleForm = /^role_[a-z0-9]+$/

/** The role is revoked, and the compute has not confirmed yet that its sessions have ended. */
const unconfirmed = refusedWith("unavailable", "resource_busy", "conflict")

/** Revoking a role that is gone succeeds. */
const revoke = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const role = form.text("role")
    const params = yield* branchOf(visit)
    const here = `${visit.home}/projects/${params.project_id}/branches/${params.branch_id}/credentials`
    if (!roleForm.test(role))
      return yield* credentialsPage(visit, { status: 422, problem: "Choose a credential of the list." })
    return yield* calling((api) => api.branches.revokeCredential({ params: { ...params, role } })).pipe(
      Effect.catchIf(refusedWith("not_found"), () => calling((api) => api.branches.get({ params }))),
      Effect.as(seeOther(withNotice(here, "credential-revoked"))),
      Effect.catchIf(unconfirmed, ({ detail, status }) => credentialsPage(visit, { status, problem: detail }))
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/branches/:branch_id/credentials"

export const credentialRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: inOrganization((visit) => credentialsPage(visit)) },
  { method: "POST", path: `${path}/revoke`, answer: revoke }
]

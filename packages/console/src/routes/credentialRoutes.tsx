/** The page of a branch's database credentials, and the form that revokes one. */
import { Effect } from "effect"
import { calling, refusedWith } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { branchIn, done, inProject, type ProjectVisit, propsOf, type Refused, shown } from "../requests/inProject.ts"
import { CredentialsPage } from "../views/project/Credentials.tsx"
import { page } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const credentialsPage = Effect.fnUntraced(function* (visit: ProjectVisit, state: Refused = shown) {
  const params = yield* branchIn(visit)
  const cursor = visit.query.get("cursor")
  const [{ branch }, { credentials, pagination }] = yield* Effect.all(
    [
      calling((api) => api.branches.get({ params })),
      calling((api) => api.branches.credentials({ params, query: cursor === null ? {} : { cursor } }))
    ],
    { concurrency: "unbounded" }
  )
  return page(
    <CredentialsPage
      {...propsOf(visit, state)}
      branch={branch}
      credentials={credentials}
      next_cursor={pagination.next_cursor}
    />,
    { status: state.status }
  )
})

/** The form of a role's name. Only such a text may become part of a path. */
const roleForm = /^role_[a-z0-9]+$/

/** The role is revoked, and the compute has not confirmed yet that its sessions have ended. */
const unconfirmed = refusedWith("unavailable", "resource_busy", "conflict")

/** Revoking a role that is gone succeeds. */
const revoke = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const role = form.text("role")
    const params = yield* branchIn(visit)
    const here = `${visit.here}/branches/${params.branch_id}/credentials`
    if (!roleForm.test(role))
      return yield* credentialsPage(visit, { status: 422, problem: "Choose a credential of the list." })
    return yield* calling((api) => api.branches.revokeCredential({ params: { ...params, role } })).pipe(
      Effect.catchIf(refusedWith("not_found"), () => calling((api) => api.branches.get({ params }))),
      Effect.as(done(here, "credential-revoked")),
      Effect.catchIf(unconfirmed, ({ detail, status }) => credentialsPage(visit, { status, problem: detail }))
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/branches/:branch_id/credentials"

export const credentialRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: inProject((visit) => credentialsPage(visit)) },
  { method: "POST", path: `${path}/revoke`, answer: revoke }
]

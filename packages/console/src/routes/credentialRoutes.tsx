/** The page of a branch's database credentials, and the form that revokes one. */
import { Effect } from "effect"
import { calling, refusedWith } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  branchIn,
  done,
  inProject,
  inProjectReading,
  type ProjectAsked,
  type ProjectVisit,
  propsOf,
  type Refused,
  shown,
  visitAgain
} from "../requests/inProject.ts"
import { branchOf } from "../requests/projectReads.ts"
import { CredentialsPage } from "../views/project/Credentials.tsx"
import type { BranchShown } from "../views/records.ts"
import { page } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const readCredentials = (asked: ProjectAsked) =>
  Effect.flatMap(branchIn(asked), (params) => {
    const cursor = asked.query.get("cursor")
    return calling((api) => api.branches.credentials({ params, query: cursor === null ? {} : { cursor } }))
  })

const credentialsPage = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  branches: ReadonlyArray<BranchShown>,
  { credentials, pagination }: Effect.Success<ReturnType<typeof readCredentials>>,
  state: Refused = shown
) {
  const branch = yield* branchOf(yield* branchIn(visit), branches)
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

/** The page after a form that did not end as it should. */
const credentialsPageAgain = (visit: ProjectVisit, state: Refused) =>
  Effect.flatMap(
    Effect.all([visitAgain(visit, ["branches"]), readCredentials(visit)], { concurrency: "unbounded" }),
    ([[again, { branches }], read]) => credentialsPage(again, branches, read, state)
  )

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
      return yield* credentialsPageAgain(visit, { status: 422, problem: "Choose a credential of the list." })
    return yield* calling((api) => api.branches.revokeCredential({ params: { ...params, role } })).pipe(
      Effect.catchIf(refusedWith("not_found"), () => calling((api) => api.branches.get({ params }))),
      Effect.as(done(here, "credential-revoked")),
      Effect.catchIf(unconfirmed, ({ detail, status }) => credentialsPageAgain(visit, { status, problem: detail }))
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/branches/:branch_id/credentials"

export const credentialRoutes: ReadonlyArray<ConsoleRoute> = [
  {
    method: "GET",
    path,
    answer: inProjectReading(["branches"], readCredentials, (visit, { branches }, read) =>
      credentialsPage(visit, branches, read)
    )
  },
  { method: "POST", path: `${path}/revoke`, answer: revoke }
]

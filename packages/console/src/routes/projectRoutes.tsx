/** The overview of a project, and the form that makes a password. */
import { contains, MintCredential, parseBranchId } from "@narthex/api"
import { Effect, Redacted } from "effect"
import { calling, idOrNotFound } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  inProject,
  inProjectWith,
  type ProjectVisit,
  propsOf,
  type Refused,
  refusedNow,
  shown,
  visitAgain
} from "../requests/inProject.ts"
import { branchWanted, readOwnAddress, readPeople } from "../requests/projectReads.ts"
import type { Overview } from "../requests/readOverview.ts"
import { readRecentRefusals } from "../requests/recentRefusals.ts"
import { tabNamed } from "../views/project/connection.ts"
import { OverviewPage } from "../views/project/Overview.tsx"
import { PasswordPage } from "../views/project/Password.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

/** The number of operations on the overview. */
const newest = 6

const parts = ["branches", "endpoints", "operations", "ip_allow"] as const

const overview = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  { branches, endpoints, ip_allow: allowlist, operations: latest }: Overview<(typeof parts)[number]>,
  state: Refused = shown,
  asked: URLSearchParams = visit.query
) {
  const operations = latest.slice(0, newest)
  // An empty list refuses no client, and is not asked.
  const [people, refused, own] = yield* Effect.all(
    [
      readPeople(visit, operations),
      allowlist.restricted ? readRecentRefusals(visit) : Effect.undefined,
      readOwnAddress
    ],
    { concurrency: "unbounded" }
  )
  const { project } = visit
  const mayWrite = visit.frame.permissions.includes("mint_read_write")
  return page(
    <OverviewPage
      {...propsOf(visit, state)}
      branches={branches}
      endpoints={endpoints}
      operations={operations}
      people={people}
      allowlist={allowlist}
      refused={refused}
      picked={{
        tab: tabNamed(asked.get("tab")).id,
        branch_id: branchWanted(asked.get("branch"), project, branches),
        access: asked.get("access") === "read_only" || !mayWrite ? "read_only" : "read_write",
        lifetime: asked.get("lifetime") ?? ""
      }}
      address={
        own === null
          ? null
          : { text: own, allowed: !allowlist.restricted || allowlist.rules.some(({ cidr }) => contains(cidr, own)) }
      }
      form_token={newFormToken()}
    />,
    { status: state.status }
  )
})

/** The values of the pickers, as the query of the overview. */
const pickedIn = (form: Form) =>
  new URLSearchParams(["tab", "branch", "access", "lifetime"].map((name) => [name, form.text(name)]))

/** Creates a Postgres role. The answer shows its password, which cannot be shown again. */
const createPassword = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = { ...visit.params, branch_id: yield* idOrNotFound(parseBranchId(form.text("branch"))) }
    const access = form.text("access") === "read_write" ? "read_write" : "read_only"
    const lifetime = form.text("lifetime")
    return yield* Effect.gen(function* () {
      const body = yield* payload(MintCredential, {
        access,
        ...(lifetime === "" ? {} : { ttl_seconds: wholeNumber(lifetime) })
      })
      // Before the password exists: what fails after its creation would lose it.
      const { branch } = yield* calling((api) => api.branches.get({ params }))
      const { connection_uri, credential } = yield* callOnce(form)(
        calling((api) => api.branches.mint({ params, payload: body }))
      )
      const rights = credential.access === "read_only" ? "reads" : "reads and writes"
      return page(
        <PasswordPage
          {...propsOf(visit)}
          branch={branch}
          connection_uri={connection_uri === null ? null : Redacted.value(connection_uri)}
          tab={form.text("tab")}
          made={`A new Postgres role, ${credential.role}, ${rights} this branch.`}
        />
      )
    }).pipe(
      Effect.catchIf(refusedNow, ({ detail, status }) =>
        Effect.flatMap(visitAgain(visit, parts), ([again, read]) =>
          overview(again, read, { status, problem: detail }, pickedIn(form))
        )
      )
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id"

/** The address of a form whose answer is shown there; a GET of it redirects to the project. */
const showProject = inProject((visit) => Effect.succeed(seeOther(visit.here)))

export const projectRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: inProjectWith(parts, (visit, read) => overview(visit, read)) },
  { method: "GET", path: `${path}/credentials`, answer: showProject },
  { method: "POST", path: `${path}/credentials`, answer: createPassword }
]

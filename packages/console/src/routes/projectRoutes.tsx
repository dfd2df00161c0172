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
  shown
} from "../requests/inProject.ts"
import { branchOf, branchWanted, readOwnAddress, readPeople } from "../requests/projectReads.ts"
import type { Overview } from "../requests/readOverview.ts"
import { readRecentRefusals } from "../requests/recentRefusals.ts"
import { tabNamed } from "../views/project/connection.ts"
import { OverviewPage, type OverviewPageProps } from "../views/project/Overview.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

/** The number of operations on the overview. */
const newest = 6

const parts = ["branches", "endpoints", "operations", "ip_allow"] as const

/** Reads the rest of the page. The answer renders it, and reads nothing. */
const overviewOf = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  { branches, endpoints, ip_allow: allowlist, operations: latest }: Overview<(typeof parts)[number]>,
  asked: URLSearchParams
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
  const mayWrite = visit.frame.permissions.includes("mint_read_write")
  return (state: Refused, made?: OverviewPageProps["made"]) =>
    page(
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
          branch_id: branchWanted(asked.get("branch"), visit.project, branches),
          access: asked.get("access") === "read_only" || !mayWrite ? "read_only" : "read_write",
          lifetime: asked.get("lifetime") ?? ""
        }}
        address={
          own === null
            ? null
            : { text: own, allowed: !allowlist.restricted || allowlist.rules.some(({ cidr }) => contains(cidr, own)) }
        }
        form_token={newFormToken()}
        {...(made === undefined ? {} : { made })}
      />,
      { status: state.status }
    )
})

/** The values of the pickers, as the query of the overview. */
const pickedIn = (form: Form) =>
  new URLSearchParams(["tab", "branch", "access", "lifetime"].map((name) => [name, form.text(name)]))

/** Creates a Postgres role. The answer shows its password, which cannot be shown again. */
const createPassword = inProjectWith(parts, (visit, read) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = { ...visit.params, branch_id: yield* idOrNotFound(parseBranchId(form.text("branch"))) }
    const access = form.text("access") === "read_write" ? "read_write" : "read_only"
    const lifetime = form.text("lifetime")
    // Everything that the page shows, before the password exists: what fails after its creation would lose it.
    const branch = yield* branchOf(params, read.branches)
    const answer = yield* overviewOf(visit, read, pickedIn(form))
    return yield* Effect.gen(function* () {
      const body = yield* payload(MintCredential, {
        access,
        ...(lifetime === "" ? {} : { ttl_seconds: wholeNumber(lifetime) })
      })
      const { connection_uri, credential } = yield* callOnce(form)(
        calling((api) => api.branches.mint({ params, payload: body }))
      )
      if (connection_uri === null) return answer(shown, null)
      const rights = credential.access === "read_only" ? "reads" : "reads and writes"
      const sentence = `Its Postgres role, ${credential.role}, ${rights} ${branch.name}.`
      return answer(shown, { branch, connection_uri: Redacted.value(connection_uri), sentence })
    }).pipe(Effect.catchIf(refusedNow, ({ detail, status }) => Effect.succeed(answer({ status, problem: detail }))))
  })
)

const path = "/orgs/:org_id/projects/:project_id"

/** The address of a form whose answer is shown there; a GET of it redirects to the project. */
const showProject = inProject((visit) => Effect.succeed(seeOther(visit.here)))

export const projectRoutes: ReadonlyArray<ConsoleRoute> = [
  {
    method: "GET",
    path,
    answer: inProjectWith(parts, (visit, read) =>
      Effect.map(overviewOf(visit, read, visit.query), (answer) => answer(shown))
    )
  },
  { method: "GET", path: `${path}/credentials`, answer: showProject },
  { method: "POST", path: `${path}/credentials`, answer: createPassword }
]

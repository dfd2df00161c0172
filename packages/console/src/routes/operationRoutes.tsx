/** The operations of a project, and the form that cancels one. */
import { parseOperationId } from "@narthex/api"
import { Effect } from "effect"
import { calling, idOrNotFound } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { done, inProject, type ProjectVisit, propsOf, type Refused, refusedNow, shown } from "../requests/inProject.ts"
import { readBranches, readPeople } from "../requests/projectReads.ts"
import { OperationsPage } from "../views/project/Operations.tsx"
import { page } from "../web/answer.tsx"

/** So many are on a page. */
const limit = 50

const operationsPage = Effect.fnUntraced(function* (visit: ProjectVisit, state: Refused = shown) {
  const cursor = visit.query.get("cursor")
  const { params } = visit
  const [{ operations, pagination }, branches] = yield* Effect.all(
    [
      calling((api) => api.operations.list({ params, query: { limit, ...(cursor === null ? {} : { cursor }) } })),
      readBranches(visit)
    ],
    { concurrency: "unbounded" }
  )
  return page(
    <OperationsPage
      {...propsOf(visit, state)}
      people={yield* readPeople(visit, operations)}
      operations={operations}
      branches={branches}
      next_cursor={pagination.next_cursor}
      cursor={cursor}
    />,
    { status: state.status }
  )
})

const cancel = inProject((visit) =>
  Effect.gen(function* () {
    const operation_id = yield* idOrNotFound(parseOperationId(visit.param("operation_id")))
    return yield* calling((api) => api.operations.cancel({ params: { ...visit.params, operation_id } })).pipe(
      Effect.as(done(`${visit.here}/operations`, "operation-cancelled")),
      Effect.catchIf(refusedNow, ({ detail, status }) => operationsPage(visit, { status, problem: detail }))
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/operations"

export const operationRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: inProject((visit) => operationsPage(visit)) },
  { method: "POST", path: `${path}/:operation_id/cancel`, answer: cancel }
]

/** The operations of a project, and the form that cancels one. */
import { OperationAction, OperationStatus, parseBranchId, parseEndpointId, parseOperationId } from "@narthex/api"
import { Effect, Option, Schema } from "effect"
import { calling, idOrNotFound } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  done,
  inProject,
  inProjectReading,
  type ProjectAsked,
  type ProjectVisit,
  propsOf,
  type Refused,
  refusedNow,
  shown,
  visitAgain
} from "../requests/inProject.ts"
import { readPeople } from "../requests/projectReads.ts"
import type { Overview } from "../requests/readOverview.ts"
import type { OperationFilterShown } from "../views/project/OperationFilterForm.tsx"
import { OperationsPage } from "../views/project/Operations.tsx"
import { queryOf } from "../views/queryOf.ts"
import { page } from "../web/answer.tsx"

/** The number of operations on a page. */
const limit = 50

const statusOf = Schema.decodeUnknownOption(OperationStatus)
const actionOf = Schema.decodeUnknownOption(OperationAction)

/** The filter in the address, for the API. Values that the API would refuse are left out. */
const filterIn = (query: URLSearchParams) => {
  const [status, action] = [statusOf(query.get("status")), actionOf(query.get("action"))]
  const branch_id = parseBranchId(query.get("branch") ?? "")
  const endpoint_id = parseEndpointId(query.get("endpoint") ?? "")
  return {
    ...(Option.isSome(status) ? { status: status.value } : {}),
    ...(Option.isSome(action) ? { action: action.value } : {}),
    ...(Option.isSome(branch_id) ? { branch_id: branch_id.value } : {}),
    ...(Option.isSome(endpoint_id) ? { endpoint_id: endpoint_id.value } : {})
  }
}

/** The filter for the form and the links of the page. */
const shownOf = ({ action, branch_id, endpoint_id, status }: ReturnType<typeof filterIn>) =>
  ({
    status: status ?? "",
    action: action ?? "",
    branch: branch_id ?? "",
    endpoint: endpoint_id ?? ""
  }) satisfies OperationFilterShown

const readOperations = ({ params, query }: ProjectAsked) => {
  const cursor = query.get("cursor") || undefined
  return calling((api) =>
    api.operations.list({ params, query: { ...filterIn(query), limit, ...(cursor === undefined ? {} : { cursor }) } })
  )
}

/** The parts of the project for names and the choices of the filter. */
const parts = ["branches", "endpoints"] as const

const operationsPage = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  { branches, endpoints }: Overview<(typeof parts)[number]>,
  { operations, pagination }: Effect.Success<ReturnType<typeof readOperations>>,
  state: Refused = shown
) {
  return page(
    <OperationsPage
      {...propsOf(visit, state)}
      people={yield* readPeople(visit, operations)}
      operations={operations}
      branches={branches}
      endpoints={endpoints}
      filter={shownOf(filterIn(visit.query))}
      next_cursor={pagination.next_cursor}
      cursor={visit.query.get("cursor")}
    />,
    { status: state.status }
  )
})

const cancel = inProject((visit) =>
  Effect.gen(function* () {
    const operation_id = yield* idOrNotFound(parseOperationId(visit.param("operation_id")))
    return yield* calling((api) => api.operations.cancel({ params: { ...visit.params, operation_id } })).pipe(
      Effect.as(done(`${visit.here}/operations${queryOf(shownOf(filterIn(visit.query)))}`, "operation-cancelled")),
      Effect.catchIf(refusedNow, ({ detail, status }) =>
        Effect.flatMap(
          Effect.all([visitAgain(visit, parts), readOperations(visit)], { concurrency: "unbounded" }),
          ([[again, read], listed]) => operationsPage(again, read, listed, { status, problem: detail })
        )
      )
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/operations"

export const operationRoutes: ReadonlyArray<ConsoleRoute> = [
  {
    method: "GET",
    path,
    answer: inProjectReading(parts, readOperations, (visit, read, listed) => operationsPage(visit, read, listed))
  },
  { method: "POST", path: `${path}/:operation_id/cancel`, answer: cancel }
]

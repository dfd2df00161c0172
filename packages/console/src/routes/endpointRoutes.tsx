/** The endpoints of a project: the list, the page of one, and the forms on them. */
import { ChangeEndpoint, CreateEndpoint } from "@narthex/api"
import { Effect } from "effect"
import { type ApiRefused, calling } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  done,
  endpointIn,
  inProject,
  inProjectReading,
  type ProjectAsked,
  type ProjectVisit,
  propsOf,
  type Refused,
  refusedInput,
  refusedNow,
  refusedOrGone,
  returnTo,
  shown
} from "../requests/inProject.ts"
import type { NoticeName } from "../requests/notices.ts"
import { branchWanted, readBranches } from "../requests/projectReads.ts"
import { EndpointPage } from "../views/project/Endpoint.tsx"
import { EndpointsPage } from "../views/project/Endpoints.tsx"
import { type EndpointDraft, NewEndpointPage, type NewEndpointPageProps } from "../views/project/NewEndpoint.tsx"
import { page } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const readList = Effect.fnUntraced(function* (asked: ProjectAsked) {
  const { params, query } = asked
  const cursor = query.get("cursor")
  const [{ endpoints, pagination }, branches] = yield* Effect.all(
    [calling((api) => api.endpoints.list({ params, query: cursor === null ? {} : { cursor } })), readBranches(asked)],
    { concurrency: "unbounded" }
  )
  return { endpoints, branches, next_cursor: pagination.next_cursor }
})

const list = inProjectReading(readList, (visit, read) =>
  Effect.succeed(page(<EndpointsPage {...propsOf(visit)} {...read} />))
)

const endpointPage = Effect.fnUntraced(function* (visit: ProjectVisit, state: Refused = shown) {
  const params = yield* endpointIn(visit)
  const { endpoint } = yield* calling((api) => api.endpoints.get({ params }))
  const { branch } = yield* calling((api) =>
    api.branches.get({ params: { ...visit.params, branch_id: endpoint.branch_id } })
  )
  return page(<EndpointPage {...propsOf(visit, state)} endpoint={endpoint} branch={branch} />, {
    status: state.status
  })
})

const newEndpointPage = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  state?: Pick<NewEndpointPageProps, "draft" | "errors"> & { readonly status: number }
) {
  const branches = yield* readBranches(visit)
  const branch = branchWanted(visit.query.get("branch"), visit.project, branches)
  return page(
    <NewEndpointPage
      {...propsOf(visit)}
      branches={branches}
      draft={state?.draft ?? { branch, type: "read_write", timeout: "300" }}
      errors={state?.errors ?? {}}
      form_token={newFormToken()}
    />,
    { status: state?.status ?? 200 }
  )
})

const errorsIn = (refusal: ApiRefused) =>
  refusal.about("branch_id") === undefined ? { form: refusal.detail } : { branch: "Choose a branch of this project." }

const create = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft: EndpointDraft = {
      branch: form.text("branch"),
      type: form.text("type"),
      timeout: form.text("timeout")
    }
    return yield* Effect.gen(function* () {
      const body = yield* payload(CreateEndpoint, {
        branch_id: draft.branch,
        type: draft.type,
        suspend_timeout_seconds: wholeNumber(draft.timeout)
      })
      const { endpoint } = yield* callOnce(form)(
        calling((api) => api.endpoints.create({ params: visit.params, payload: body }))
      )
      return done(`${visit.here}/endpoints/${endpoint.id}`, "endpoint-added")
    }).pipe(
      Effect.catchIf(refusedInput, (refusal) =>
        newEndpointPage(visit, { status: refusal.status, draft, errors: errorsIn(refusal) })
      )
    )
  })
)

const thisEndpoint = (visit: ProjectVisit) => `${visit.here}/endpoints/${visit.param("endpoint_id")}`

/** Starts or suspends, and returns to the page of the form. */
const switchTo = (verb: "start" | "suspend", notice: NoticeName) =>
  inProject((visit) =>
    Effect.gen(function* () {
      const form = yield* Form.read
      const params = yield* endpointIn(visit)
      return yield* calling((api) => api.endpoints[verb]({ params })).pipe(
        Effect.as(done(returnTo(visit, form, thisEndpoint(visit)), notice)),
        Effect.catchIf(refusedNow, ({ detail, status }) => endpointPage(visit, { status, problem: detail }))
      )
    })
  )

/** Changes what `read` finds in the form. */
const change = (read: (form: Form) => Readonly<Record<string, unknown>>, notice: NoticeName) =>
  inProject((visit) =>
    Effect.gen(function* () {
      const form = yield* Form.read
      const params = yield* endpointIn(visit)
      return yield* Effect.gen(function* () {
        const body = yield* payload(ChangeEndpoint, read(form))
        yield* calling((api) => api.endpoints.change({ params, payload: body }))
        return done(returnTo(visit, form, thisEndpoint(visit)), notice)
      }).pipe(Effect.catchIf(refusedInput, ({ detail, status }) => endpointPage(visit, { status, problem: detail })))
    })
  )

/** Deleting an endpoint that is gone succeeds. */
const remove = inProject((visit) =>
  Effect.gen(function* () {
    const params = yield* endpointIn(visit)
    const deleted = done(`${visit.here}/endpoints`, "endpoint-deleted")
    return yield* calling((api) => api.endpoints.delete({ params })).pipe(
      Effect.as(deleted),
      Effect.catchIf(refusedOrGone, ({ detail, status }) =>
        status === 404 ? Effect.succeed(deleted) : endpointPage(visit, { status, problem: detail })
      )
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/endpoints"
const one = `${path}/:endpoint_id` as const
const timeout = (form: Form) => ({ suspend_timeout_seconds: wholeNumber(form.text("timeout")) })

export const endpointRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: list },
  { method: "POST", path, answer: create },
  { method: "GET", path: `${path}/new`, answer: inProject((visit) => newEndpointPage(visit)) },
  { method: "GET", path: one, answer: inProject((visit) => endpointPage(visit)) },
  { method: "POST", path: one, answer: change(timeout, "endpoint-changed") },
  { method: "POST", path: `${one}/start`, answer: switchTo("start", "endpoint-starting") },
  { method: "POST", path: `${one}/suspend`, answer: switchTo("suspend", "endpoint-suspending") },
  { method: "POST", path: `${one}/disable`, answer: change(() => ({ disabled: true }), "endpoint-disabled") },
  { method: "POST", path: `${one}/enable`, answer: change(() => ({ disabled: false }), "endpoint-enabled") },
  { method: "POST", path: `${one}/delete`, answer: remove }
]

/** The endpoints of a project: the list, the page of one, and the forms on them. */
import { ChangeEndpoint, CreateEndpoint, type OfferedSize } from "@narthex/api"
import { Effect } from "effect"
import { type ApiRefused, calling } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import { readSizes } from "../api/readSizes.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  done,
  endpointIn,
  inProject,
  inProjectReading,
  inProjectWith,
  type ProjectAsked,
  type ProjectVisit,
  propsOf,
  type Refused,
  refusedInput,
  refusedNow,
  refusedOrGone,
  returnTo,
  shown,
  visitAgain
} from "../requests/inProject.ts"
import type { NoticeName } from "../requests/notices.ts"
import { branchOf, branchWanted } from "../requests/projectReads.ts"
import { EndpointPage } from "../views/project/Endpoint.tsx"
import { EndpointsPage } from "../views/project/Endpoints.tsx"
import { type EndpointDraft, NewEndpointPage, type NewEndpointPageProps } from "../views/project/NewEndpoint.tsx"
import type { BranchShown, EndpointShown } from "../views/records.ts"
import { page } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const readList = ({ params, query }: ProjectAsked) => {
  const cursor = query.get("cursor")
  return calling((api) => api.endpoints.list({ params, query: cursor === null ? {} : { cursor } }))
}

const list = inProjectReading(["branches"], readList, (visit, { branches }, { endpoints, pagination }) =>
  Effect.succeed(
    page(
      <EndpointsPage
        {...propsOf(visit)}
        endpoints={endpoints}
        branches={branches}
        next_cursor={pagination.next_cursor}
      />
    )
  )
)

interface EndpointRead {
  readonly endpoint: EndpointShown
  readonly sizes: ReadonlyArray<OfferedSize>
}

const readEndpoint = (asked: ProjectAsked) =>
  Effect.flatMap(endpointIn(asked), (params) =>
    Effect.map(
      Effect.all([calling((api) => api.endpoints.get({ params })), readSizes], { concurrency: 2 }),
      ([{ endpoint }, sizes]): EndpointRead => ({ endpoint, sizes })
    )
  )

const endpointPage = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  branches: ReadonlyArray<BranchShown>,
  { endpoint, sizes }: EndpointRead,
  state: Refused = shown
) {
  const branch = yield* branchOf({ ...visit.params, branch_id: endpoint.branch_id }, branches)
  return page(<EndpointPage {...propsOf(visit, state)} endpoint={endpoint} branch={branch} sizes={sizes} />, {
    status: state.status
  })
})

/** The page after a form that changed nothing. */
const endpointPageAgain = (visit: ProjectVisit, state: Refused) =>
  Effect.flatMap(readEndpoint(visit), (read) => endpointPage(visit, [], read, state))

const newEndpointPage = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  branches: ReadonlyArray<BranchShown>,
  state?: Pick<NewEndpointPageProps, "draft" | "errors"> & { readonly status: number }
) {
  const sizes = yield* readSizes
  const branch = branchWanted(visit.query.get("branch"), visit.project, branches)
  return page(
    <NewEndpointPage
      {...propsOf(visit)}
      branches={branches}
      sizes={sizes}
      draft={state?.draft ?? { branch, type: "read_write", timeout: "300", size: "" }}
      errors={state?.errors ?? {}}
      form_token={newFormToken()}
    />,
    { status: state?.status ?? 200 }
  )
})

const errorsIn = (refusal: ApiRefused) => {
  if (refusal.about("branch_id") !== undefined) return { branch: "Choose a branch of this project." }
  return refusal.about("size") === undefined ? { form: refusal.detail } : { size: refusal.detail }
}

const create = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft: EndpointDraft = {
      branch: form.text("branch"),
      type: form.text("type"),
      timeout: form.text("timeout"),
      size: form.text("size")
    }
    return yield* Effect.gen(function* () {
      const body = yield* payload(CreateEndpoint, {
        branch_id: draft.branch,
        type: draft.type,
        suspend_timeout_seconds: wholeNumber(draft.timeout),
        ...(draft.size === "" ? {} : { size: draft.size })
      })
      const { endpoint } = yield* callOnce(form)(
        calling((api) => api.endpoints.create({ params: visit.params, payload: body }))
      )
      return done(`${visit.here}/endpoints/${endpoint.id}`, "endpoint-added")
    }).pipe(
      Effect.catchIf(refusedInput, (refusal) =>
        Effect.flatMap(visitAgain(visit, ["branches"]), ([again, { branches }]) =>
          newEndpointPage(again, branches, { status: refusal.status, draft, errors: errorsIn(refusal) })
        )
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
        Effect.catchIf(refusedNow, ({ detail, status }) => endpointPageAgain(visit, { status, problem: detail }))
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
      }).pipe(
        Effect.catchIf(refusedInput, ({ detail, status }) => endpointPageAgain(visit, { status, problem: detail }))
      )
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
        status === 404 ? Effect.succeed(deleted) : endpointPageAgain(visit, { status, problem: detail })
      )
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/endpoints"
const one = `${path}/:endpoint_id` as const
const sizeOf = (form: Form) => ({ size: form.text("size") })
const timeout = (form: Form) => ({ suspend_timeout_seconds: wholeNumber(form.text("timeout")) })

export const endpointRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: list },
  { method: "POST", path, answer: create },
  {
    method: "GET",
    path: `${path}/new`,
    answer: inProjectWith(["branches"], (visit, { branches }) => newEndpointPage(visit, branches))
  },
  {
    method: "GET",
    path: one,
    answer: inProjectReading(["branches"], readEndpoint, (visit, { branches }, read) =>
      endpointPage(visit, branches, read)
    )
  },
  { method: "POST", path: one, answer: change(timeout, "endpoint-changed") },
  { method: "POST", path: `${one}/resize`, answer: change(sizeOf, "endpoint-changed") },
  { method: "POST", path: `${one}/start`, answer: switchTo("start", "endpoint-starting") },
  { method: "POST", path: `${one}/suspend`, answer: switchTo("suspend", "endpoint-suspending") },
  { method: "POST", path: `${one}/disable`, answer: change(() => ({ disabled: true }), "endpoint-disabled") },
  { method: "POST", path: `${one}/enable`, answer: change(() => ({ disabled: false }), "endpoint-enabled") },
  { method: "POST", path: `${one}/delete`, answer: remove }
]

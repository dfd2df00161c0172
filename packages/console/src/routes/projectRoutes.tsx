/** The page of one project, and its forms: start and suspend, connection strings, the IP allowlist. */
import {
  AddIpRule,
  MintCredential,
  parseBranchId,
  parseCidrOrAddress,
  parseEndpointId,
  parseProjectId
} from "@narthex/api"
import { Effect, Redacted, Result } from "effect"
import { type ApiRefused, calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { type Notice, noticeIn, withNotice } from "../requests/notices.ts"
import { inOrganization, type Visit } from "../requests/Visit.ts"
import type { AllowlistDraft, AllowlistEditorProps } from "../views/Allowlist.tsx"
import { ProjectPage } from "../views/Project.tsx"
import { SecretPage } from "../views/Secret.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const projectOf = (visit: Visit) => idOrNotFound(parseProjectId(visit.param("project_id")))

const emptyDraft: AllowlistDraft = { cidr: "", label: "", hours: "" }

interface ProjectPageState {
  readonly status: number
  readonly allowlist?: Pick<AllowlistEditorProps, "draft" | "errors">
  readonly problem?: string
}

const projectPage = Effect.fnUntraced(function* (visit: Visit, state: ProjectPageState = { status: 200 }) {
  const project_id = yield* projectOf(visit)
  const params = { project_id }
  const [{ project }, { branches }, { endpoints }, { operations }, allowlist] = yield* Effect.all(
    [
      calling((api) => api.projects.get({ params })),
      calling((api) => api.branches.list({ params, query: {} })),
      calling((api) => api.endpoints.list({ params, query: {} })),
      calling((api) => api.operations.list({ params, query: { limit: 20 } })),
      calling((api) => api.ipAllow.list({ params }))
    ],
    { concurrency: "unbounded" }
  )
  return page(
    <ProjectPage
      frame={visit.frame}
      project={project}
      branches={branches}
      endpoints={endpoints}
      operations={operations}
      allowlist={{ allowlist, draft: emptyDraft, ...state.allowlist }}
      form_token={newFormToken()}
      notice={noticeIn(visit.query)}
      problem={state.problem}
    />,
    { status: state.status }
  )
})

/** Redirects to the project's page, which shows the notice. */
const backTo = (visit: Visit, notice: Notice) =>
  seeOther(withNotice(`${visit.home}/projects/${visit.param("project_id")}`, notice))

const busy = refusedWith("conflict", "resource_busy", "unavailable", "idempotency_conflict")

const changeState = (verb: "start" | "suspend", notice: Notice) =>
  inOrganization((visit) =>
    Effect.gen(function* () {
      const params = {
        project_id: yield* projectOf(visit),
        endpoint_id: yield* idOrNotFound(parseEndpointId(visit.param("endpoint_id")))
      }
      return yield* calling((api) => api.endpoints[verb]({ params })).pipe(
        Effect.as(backTo(visit, notice)),
        Effect.catchIf(busy, ({ detail, status }) => projectPage(visit, { status, problem: detail }))
      )
    })
  )

/** Creates a Postgres role. The answer shows its password, which cannot be shown again. */
const createCredential = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const project_id = yield* projectOf(visit)
    const branch_id = yield* idOrNotFound(parseBranchId(form.text("branch_id")))
    const access = form.text("access") === "read_write" ? "read_write" : "read_only"
    const body = yield* payload(MintCredential, { access })
    return yield* callOnce(form)(
      calling((api) => api.branches.mint({ params: { project_id, branch_id }, payload: body }))
    ).pipe(
      Effect.map(({ connection_uri }) =>
        page(
          <SecretPage
            frame={visit.frame}
            section="projects"
            title="Connection string"
            name="Connection string"
            secret={connection_uri === null ? null : Redacted.value(connection_uri)}
            explanation="It contains a new Postgres role for this branch. Pass it to psql or to your program:"
            back={{ href: `${visit.home}/projects/${project_id}`, label: "Back to the project" }}
          />
        )
      ),
      Effect.catchIf(busy, ({ detail, status }) => projectPage(visit, { status, problem: detail }))
    )
  })
)

/** The canonical network, with a prefix for a bare address. Text that is neither goes to the API, which refuses it. */
const network = (text: string): string => Result.getOrElse(parseCidrOrAddress(text), () => text)

const ruleErrors = (refusal: ApiRefused) => {
  if (refusal.code === "malformed_cidr" || refusal.about("cidr") !== undefined) return { cidr: refusal.detail }
  if (refusal.about("ttl_seconds") !== undefined) return { hours: "Enter a whole number of hours from 1 to 87600." }
  return refusal.about("label") === undefined ? { cidr: refusal.detail } : { label: "Use at most 256 characters." }
}

const correctableRule = refusedWith("malformed_cidr", "invalid_request", "conflict")

const addRule = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = { project_id: yield* projectOf(visit) }
    const clientAddressAsked = form.text("use") === "client-address"
    const cidr = clientAddressAsked ? (yield* calling((api) => api.auth.clientAddress({}))).address : form.text("cidr")
    const draft: AllowlistDraft = { cidr, label: form.text("label"), hours: form.text("hours") }
    return yield* Effect.gen(function* () {
      const body = yield* payload(AddIpRule, {
        cidr: network(draft.cidr),
        label: draft.label,
        ...(draft.hours === "" ? {} : { ttl_seconds: wholeNumber(draft.hours) * 3600 })
      })
      yield* calling((api) => api.ipAllow.add({ params, payload: body }))
      return backTo(visit, "rule-added")
    }).pipe(
      Effect.catchIf(correctableRule, (refusal) =>
        projectPage(visit, { status: refusal.status, allowlist: { draft, errors: ruleErrors(refusal) } })
      )
    )
  })
)

/** Removing a rule that no longer exists succeeds. */
const removeRule = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const project_id = yield* projectOf(visit)
    const parsed = parseCidrOrAddress(form.text("cidr"))
    // Only text that parses may become part of a path.
    if (Result.isFailure(parsed)) return yield* projectPage(visit, { status: 422, problem: parsed.failure.message })
    return yield* calling((api) => api.ipAllow.remove({ params: { project_id, cidr: parsed.success } })).pipe(
      Effect.catchIf(refusedWith("not_found"), () => calling((api) => api.projects.get({ params: { project_id } }))),
      Effect.as(backTo(visit, "rule-removed"))
    )
  })
)

const resetRules = inOrganization((visit) =>
  Effect.gen(function* () {
    const params = { project_id: yield* projectOf(visit) }
    yield* calling((api) => api.ipAllow.reset({ params, query: {} }))
    return backTo(visit, "rules-reset")
  })
)

const project = "/orgs/:org_id/projects/:project_id"
const endpoint = `${project}/endpoints/:endpoint_id` as const
const allowlist = `${project}/ip-allow` as const

/** The address of a form that was shown again with errors; a GET of it redirects to the project. */
const showProject = inOrganization((visit) =>
  Effect.succeed(seeOther(`${visit.home}/projects/${visit.param("project_id")}`))
)

export const projectRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: project, answer: inOrganization((visit) => projectPage(visit)) },
  { method: "POST", path: `${endpoint}/start`, answer: changeState("start", "endpoint-starting") },
  { method: "POST", path: `${endpoint}/suspend`, answer: changeState("suspend", "endpoint-suspending") },
  { method: "POST", path: `${project}/credentials`, answer: createCredential },
  { method: "GET", path: allowlist, answer: showProject },
  { method: "POST", path: allowlist, answer: addRule },
  { method: "POST", path: `${allowlist}/remove`, answer: removeRule },
  { method: "POST", path: `${allowlist}/reset`, answer: resetRules }
]

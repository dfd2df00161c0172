/** Projects: list, create, look into, wake and suspend, and a connection string. */
import { Effect, Redacted } from "effect"
import { ClientHeaders, CreateProject, MintCredential, parseBranchId, parseEndpointId } from "@narthex/api"
import { type ApiRefused, calling, refusedWith } from "../ApiRefusal.ts"
import { type Notice, withNotice } from "../notices.ts"
import { inOrganization, onceFor, type Visit } from "../organization.tsx"
import { payload } from "../payload.ts"
import { SecretPage } from "../views/Secret.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"
import type { ConsoleRoute } from "../web/routes.ts"
import { known, newProjectPage, projectOf, projectPage, projectsPage } from "./projectPages.tsx"

/** Runs a call that acts once for the form that was sent. */
export const once =
  (form: Form) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(ClientHeaders, (headers) =>
      Effect.provideService(call, ClientHeaders, { ...headers, ...onceFor(form.text("form_token")) })
    )

const projectErrors = (refusal: ApiRefused) => {
  if (refusal.code === "region_required") return { region: "Choose a region: there is more than one." }
  if (refusal.code === "region_unknown") return { region: refusal.detail }
  const name = refusal.about("name")
  return name === undefined ? { form: refusal.detail } : { name: `The name: ${name}.` }
}

const correctable = refusedWith(
  "invalid_request",
  "region_required",
  "region_unknown",
  "conflict",
  "idempotency_conflict"
)

const create = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft = { name: form.text("name"), region: form.text("region") }
    return yield* Effect.gen(function* () {
      const body = yield* payload(CreateProject, {
        name: draft.name,
        ...(draft.region === "" ? {} : { region: draft.region })
      })
      const { project } = yield* once(form)(calling((api) => api.projects.create({ payload: body })))
      return seeOther(withNotice(`${visit.home}/projects/${project.id}`, "project-created"))
    }).pipe(Effect.catchIf(correctable, (refusal) => newProjectPage(visit, { draft, errors: projectErrors(refusal) })))
  })
)

/** Back to the project, or the project's page with what went wrong. */
export const backTo = (visit: Visit, notice: Notice) =>
  seeOther(withNotice(`${visit.home}/projects/${visit.param("project_id")}`, notice))

const busy = refusedWith("conflict", "resource_busy", "unavailable", "idempotency_conflict")

const switching = (verb: "start" | "suspend", notice: Notice) =>
  inOrganization((visit) =>
    Effect.gen(function* () {
      const params = {
        project_id: yield* projectOf(visit),
        endpoint_id: yield* known(parseEndpointId(visit.param("endpoint_id")))
      }
      return yield* calling((api) => api.endpoints[verb]({ params })).pipe(
        Effect.as(backTo(visit, notice)),
        Effect.catchIf(busy, ({ detail, status }) => projectPage(visit, { status, problem: detail }))
      )
    })
  )

/** Makes a Postgres role; the answer holds its password, which nothing shows again. */
const mint = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const project_id = yield* projectOf(visit)
    const branch_id = yield* known(parseBranchId(form.text("branch_id")))
    const access = form.text("access") === "read_write" ? "read_write" : "read_only"
    const body = yield* payload(MintCredential, { access })
    return yield* once(form)(
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
            explanation="A Postgres role of its own, bound to this branch. Hand it to psql or to your program:"
            back={{ href: `${visit.home}/projects/${project_id}`, label: "Back to the project" }}
          />
        )
      ),
      Effect.catchIf(busy, ({ detail, status }) => projectPage(visit, { status, problem: detail }))
    )
  })
)

const projects = "/orgs/:org_id/projects"
const endpoint = `${projects}/:project_id/endpoints/:endpoint_id` as const

export const projectRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: projects, answer: inOrganization((visit) => projectsPage(visit)) },
  { method: "POST", path: projects, answer: create },
  { method: "GET", path: `${projects}/new`, answer: inOrganization((visit) => newProjectPage(visit)) },
  { method: "GET", path: `${projects}/:project_id`, answer: inOrganization((visit) => projectPage(visit)) },
  { method: "POST", path: `${endpoint}/start`, answer: switching("start", "endpoint-starting") },
  { method: "POST", path: `${endpoint}/suspend`, answer: switching("suspend", "endpoint-suspending") },
  { method: "POST", path: `${projects}/:project_id/credentials`, answer: mint }
]

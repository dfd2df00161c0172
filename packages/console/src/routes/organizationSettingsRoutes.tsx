/** Organizations as things: create one, rename it, see what it holds of its quotas, delete it. */
import { Name, parseOrgId } from "@narthex/api"
import { Effect, Schema } from "effect"
import { type ApiRefused, calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload } from "../api/payload.ts"
import type { FieldError } from "../components/ErrorSummary.tsx"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { inActiveOrganization, inOrganization, type Visit } from "../requests/Visit.ts"
import { Sessions } from "../sessions/Sessions.ts"
import { withSession } from "../sessions/signedIn.ts"
import { switchOrganization } from "../sessions/switchOrganization.ts"
import { NewOrganizationPage } from "../views/NewOrganization.tsx"
import { OrganizationSettingsPage } from "../views/OrganizationSettings.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const Named = Schema.Struct({ name: Name })

interface State {
  readonly status: number
  readonly name?: string
  readonly errors?: ReadonlyArray<FieldError>
  readonly problem?: string
}

const nameError = { field: "name", sentence: "Use 1 to 128 characters and no control characters." }

const errorsIn = (refusal: ApiRefused): Pick<State, "errors" | "problem"> =>
  refusal.about("name") === undefined ? { problem: refusal.detail } : { errors: [nameError] }

const newPage = (visit: Visit, state: State = { status: 200 }) =>
  Effect.sync(() =>
    page(
      <NewOrganizationPage
        frame={visit.frame}
        name={state.name ?? ""}
        form_token={newFormToken()}
        errors={state.errors ?? []}
        problem={state.problem}
      />,
      { status: state.status }
    )
  )

const correctable = refusedWith(
  "invalid_request",
  "quota_exceeded",
  "rate_limited",
  "conflict",
  "idempotency_conflict",
  "role_insufficient"
)

/**
 * The new organization becomes the session's. If that fails, the organization exists and is in the menu; sending the
 * form again creates no second one. The API knows a form again in the organization in which it was sent.
 */
const create = inActiveOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const name = form.text("name")
    // The form was sent before, or another tab switched: the API would take its token for that of another form.
    if (form.text("org_id") !== visit.frame.organization.id)
      return yield* newPage(visit, {
        status: 409,
        name,
        problem: "The organization has changed since this page was opened. Send the form again to create another one."
      })
    return yield* Effect.gen(function* () {
      const body = yield* payload(Named, { name })
      const { organization } = yield* callOnce(form)(calling((api) => api.orgs.create({ payload: body })))
      const { next } = yield* switchOrganization(visit.session, organization.id)
      return yield* withSession(seeOther(withNotice(`/orgs/${organization.id}/members`, "organization-created")), next)
    }).pipe(
      Effect.catchIf(correctable, (refusal) => newPage(visit, { status: refusal.status, name, ...errorsIn(refusal) }))
    )
  })
)

const settingsPage = Effect.fnUntraced(function* (visit: Visit, state: State = { status: 200 }) {
  const params = { org_id: yield* idOrNotFound(parseOrgId(visit.param("org_id"))) }
  const [{ organization }, { usage }] = yield* Effect.all(
    [calling((api) => api.orgs.get({ params })), calling((api) => api.orgs.usage({ params }))],
    { concurrency: "unbounded" }
  )
  return page(
    <OrganizationSettingsPage
      frame={visit.frame}
      organization={organization}
      usage={usage}
      name={state.name ?? organization.name}
      errors={state.errors ?? []}
      notice={noticeIn(visit.query)}
      problem={state.problem}
    />,
    { status: state.status }
  )
})

const rename = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const name = form.text("name")
    return yield* Effect.gen(function* () {
      const params = { org_id: yield* idOrNotFound(parseOrgId(visit.param("org_id"))) }
      const body = yield* payload(Named, { name })
      yield* calling((api) => api.orgs.rename({ params, payload: body }))
      return seeOther(withNotice(`${visit.home}/settings`, "organization-renamed"))
    }).pipe(
      Effect.catchIf(correctable, (refusal) =>
        settingsPage(visit, { status: refusal.status, name, ...errorsIn(refusal) })
      )
    )
  })
)

/** The refresh that follows gets a token for the personal organization. */
const remove = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    if (form.text("typed") !== visit.frame.organization.name.trim())
      return yield* settingsPage(visit, {
        status: 422,
        errors: [{ field: "typed", sentence: "Type the name of the organization to delete it." }]
      })
    const params = { org_id: yield* idOrNotFound(parseOrgId(visit.param("org_id"))) }
    yield* calling((api) => api.orgs.delete({ params }))
    const next = yield* (yield* Sessions).renewed(visit.session)
    return yield* withSession(seeOther(withNotice(`/orgs/${next.org_id}/projects`, "organization-deleted")), next)
  }).pipe(
    Effect.catchIf(refusedWith("conflict", "role_insufficient"), (refusal) =>
      settingsPage(visit, { status: refusal.status, problem: refusal.detail })
    )
  )
)

const settings = "/orgs/:org_id/settings"

/** The address of a form that was shown again with errors; a GET of it redirects to the settings. */
const showSettings = inOrganization((visit) => Effect.succeed(seeOther(`${visit.home}/settings`)))

export const organizationSettingsRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/orgs/new", answer: inActiveOrganization((visit) => newPage(visit)) },
  { method: "POST", path: "/orgs/new", answer: create },
  { method: "GET", path: settings, answer: inOrganization((visit) => settingsPage(visit)) },
  { method: "POST", path: settings, answer: rename },
  { method: "GET", path: `${settings}/delete`, answer: showSettings },
  { method: "POST", path: `${settings}/delete`, answer: remove }
]

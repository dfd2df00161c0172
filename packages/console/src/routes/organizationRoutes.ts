/** Switches the session's organization, leaves it, and redirects addresses without an organization to the active one. */
import { parseOrgId, SessionAnswer } from "@narthex/api"
import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { calling, idOrNotFound } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { pageRefusals, problemRefusals } from "../requests/refusals.tsx"
import { Sessions } from "../sessions/Sessions.ts"
import { signedIn, withSession } from "../sessions/signedIn.ts"
import { switchOrganization } from "../sessions/switchOrganization.ts"
import { json, seeOther } from "../web/answer.tsx"
import { Form, readJson, sendsJson, UnreadableBody } from "../web/Form.ts"
import { returnPath } from "../web/returnTo.ts"

/** The JSON answer: all of the session answer but the token, which stays in the cookie (docs/design/console.md W12). */
const { access_token: _token, ...shown } = SessionAnswer.fields
const encodeShown = Schema.encodeEffect(Schema.Struct(shown))

const asForm = signedIn(pageRefusals)((session) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const { next } = yield* switchOrganization(session, form.text("org_id"))
    return yield* withSession(seeOther(returnPath(form.text("return_to")) ?? "/projects"), next)
  })
)

const asJson = signedIn(problemRefusals)((session) =>
  Effect.gen(function* () {
    const body = yield* readJson
    if (!Schema.is(Schema.Struct({ org_id: Schema.String }))(body))
      return yield* new UnreadableBody({ status: 422, reason: "org_id: Expected the id of an organization." })
    const { answer, next } = yield* switchOrganization(session, body.org_id)
    return yield* withSession(json(yield* Effect.orDie(encodeShown(answer))), next)
  })
)

const switchOrg = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  sendsJson(request) ? asJson : asForm
)

/**
 * Leaves the session's organization: the API knows no other in its path. The refresh that follows gets a token for the
 * personal one; if it fails, the next page does it.
 */
const leave = signedIn(pageRefusals)((session) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const { org_id: wanted = "" } = yield* HttpRouter.params
    const org_id = yield* idOrNotFound(parseOrgId(wanted))
    const { user } = yield* calling((api) => api.auth.whoami({}))
    yield* calling((api) =>
      api.orgs.removeMember({ params: { org_id, user_id: user.id }, query: { confirm_self_lockout: "true" } })
    )
    const next = yield* (yield* Sessions).renewed(session)
    return yield* withSession(seeOther(returnPath(form.text("return_to")) ?? "/projects"), next)
  })
)

/** Redirects to the cookie's organization; the page checks it. */
const redirectTo = (section: string) =>
  signedIn(pageRefusals)((session) => Effect.succeed(seeOther(`/orgs/${session.org_id}/${section}`)))

export const organizationRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "POST", path: "/api/auth/switch-org", answer: switchOrg },
  { method: "POST", path: "/orgs/:org_id/leave", answer: leave },
  { method: "GET", path: "/projects", answer: redirectTo("projects") },
  { method: "GET", path: "/api-keys", answer: redirectTo("api-keys") },
  { method: "GET", path: "/orgs/:org_id", answer: redirectTo("projects") }
]

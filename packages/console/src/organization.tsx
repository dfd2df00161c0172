/**
 * Pages live under `/orgs/{org_id}`, and a session acts in one organization at a time. Another tab may have switched it:
 * then a page of the old organization says so instead of showing, or changing, the new one.
 */
import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { type ApiFailure, calling } from "./ApiRefusal.ts"
import type { ConsoleSession } from "./sessions/ConsoleSession.ts"
import { signedIn } from "./sessions/signedIn.ts"
import { type Frame, Page } from "./views/Layout.tsx"
import { page } from "./web/answer.tsx"
import type { NotAForm } from "./web/Form.ts"
import { notFoundPage, pageRefusals } from "./web/refusals.tsx"
import { returnPath } from "./web/returnTo.ts"
import type { PerRequest, Services } from "./web/routes.ts"

type Response = HttpServerResponse.HttpServerResponse
type Answer = Effect.Effect<Response, ApiFailure | NotAForm, Services | PerRequest>

/** A request of somebody signed in, in the organization that the path names. */
export interface Visit {
  readonly session: ConsoleSession
  readonly frame: Frame
  /** `/orgs/{org_id}` */
  readonly home: string
  /** A parameter of the path; `""` when the route has none of that name. */
  readonly param: (name: string) => string
  readonly query: URLSearchParams
}

/** Read anew for each page: roles and memberships change without us. */
export const loadFrame = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const [who, { organizations }] = yield* Effect.all(
    [calling((api) => api.auth.whoami({})), calling((api) => api.orgs.list({}))],
    { concurrency: "unbounded" }
  )
  const frame: Frame = {
    user: who.user,
    organization: who.organization,
    organizations,
    permissions: who.permissions,
    here: returnPath(request.url) ?? "/projects"
  }
  return frame
})

const visitOf = Effect.fnUntraced(function* (session: ConsoleSession) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const params = yield* HttpRouter.params
  const frame = yield* loadFrame
  const visit: Visit = {
    session,
    frame,
    home: `/orgs/${frame.organization.id}`,
    param: (name) => params[name] ?? "",
    query: new URLSearchParams(request.url.split("?")[1] ?? "")
  }
  return visit
})

const ElsewherePage = ({ frame, to }: { readonly frame: Frame; readonly to: Frame["organization"] }) => (
  <Page title="Another organization" frame={frame}>
    <div class="narrow">
      <h1>This page belongs to {to.name}</h1>
      <p>You are working in {frame.organization.name}. Nothing was changed.</p>
      <form method="post" action="/api/auth/switch-org" class="actions">
        <input type="hidden" name="org_id" value={to.id} />
        <input type="hidden" name="return_to" value={frame.here} />
        <a class="button" href="/projects">
          Stay in {frame.organization.name}
        </a>
        <button type="submit" class="primary">
          Switch to {to.name}
        </button>
      </form>
    </div>
  </Page>
)

/** The answer of a page that belongs to the organization in its path. */
export const inOrganization = (handler: (visit: Visit) => Answer) =>
  signedIn(pageRefusals)((session) =>
    Effect.gen(function* () {
      const visit = yield* visitOf(session)
      const { frame } = visit
      const wanted = visit.param("org_id")
      if (wanted === frame.organization.id) return yield* handler(visit)
      const other = frame.organizations.find(({ id }) => id === wanted)
      return other === undefined
        ? notFoundPage(true)
        : page(<ElsewherePage frame={frame} to={other} />, { status: 409 })
    })
  )

/** The answer of a page that belongs to whatever organization is active. */
export const inActiveOrganization = (handler: (visit: Visit) => Answer) =>
  signedIn(pageRefusals)((session) => Effect.flatMap(visitOf(session), handler))

/** Names one showing of a form; sent back as `Idempotency-Key`, so that a form that is sent twice acts once. */
export const newFormToken = (): string => `form-${randomUUID()}`

const formToken = /^form-[0-9a-f-]{36}$/

/** The headers that make the call act once for this form. */
export const onceFor = (token: string): Readonly<Record<string, string>> =>
  formToken.test(token) ? { "idempotency-key": token } : {}

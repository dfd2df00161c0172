/**
 * A signed-in request for a page, and the check that it is about the active organization.
 *
 * Pages are under `/orgs/{org_id}`, and a session acts in one organization at a time. When another tab has switched it,
 * a page of the previous organization offers to switch back. It never shows or changes the active organization instead.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { ApiFailure } from "../api/ApiRefusal.ts"
import type { ConsoleSession } from "../sessions/ConsoleSession.ts"
import { signedIn } from "../sessions/signedIn.ts"
import type { Frame } from "../shell/Frame.ts"
import type { ProjectShown } from "../views/records.ts"
import type { UnreadableBody } from "../web/Form.ts"
import type { PerRequest, Services } from "./ConsoleRoute.ts"
import { loadFrame } from "./loadFrame.ts"
import { notFoundPage, otherOrganizationPage, pageRefusals } from "./refusals.tsx"

type Response = HttpServerResponse.HttpServerResponse
type Answer = Effect.Effect<Response, ApiFailure | UnreadableBody, Services | PerRequest>

/** What a page handler gets. */
export interface Visit {
  readonly session: ConsoleSession
  readonly frame: Frame
  /** Projects of the organization, on a page of a project: the newest. */
  readonly projects: ReadonlyArray<ProjectShown>
  /** `/orgs/{org_id}` */
  readonly home: string
  /** A parameter of the path; `""` when the route has none of that name. */
  readonly param: (name: string) => string
  readonly query: URLSearchParams
}

const visitOf = Effect.fnUntraced(function* (session: ConsoleSession) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const params = yield* HttpRouter.params
  const { frame, projects } = yield* loadFrame
  const visit: Visit = {
    session,
    frame,
    projects,
    home: `/orgs/${frame.organization.id}`,
    param: (name) => params[name] ?? "",
    query: new URLSearchParams(request.url.split("?")[1] ?? "")
  }
  return visit
})

/** A page of the organization in its path. Another organization of the person's: 409. Any other id: 404. */
export const inOrganization = (handler: (visit: Visit) => Answer) =>
  signedIn(pageRefusals)((session) =>
    Effect.gen(function* () {
      const visit = yield* visitOf(session)
      const { frame } = visit
      const wanted = visit.param("org_id")
      if (wanted === frame.organization.id) return yield* handler(visit)
      const other = frame.organizations.find(({ id }) => id === wanted)
      return other === undefined ? notFoundPage(true) : otherOrganizationPage(frame, other)
    })
  )

/** A page without an organization in its path; it uses the active one. */
export const inActiveOrganization = (handler: (visit: Visit) => Answer) =>
  signedIn(pageRefusals)((session) => Effect.flatMap(visitOf(session), handler))

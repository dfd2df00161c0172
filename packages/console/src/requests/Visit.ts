/**
 * Pages live under `/orgs/{org_id}`, and a session acts in one organization at a time. Another tab may have switched it:
 * then a page of the old organization says so instead of showing, or changing, the new one.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { ApiFailure } from "../api/ApiRefusal.ts"
import type { ConsoleSession } from "../sessions/ConsoleSession.ts"
import { signedIn } from "../sessions/signedIn.ts"
import type { Frame } from "../views/Layout.tsx"
import type { NotAForm } from "../web/Form.ts"
import type { PerRequest, Services } from "./ConsoleRoute.ts"
import { loadFrame } from "./loadFrame.ts"
import { notFoundPage, otherOrganizationPage, pageRefusals } from "./refusals.tsx"

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

/** The answer of a page that belongs to the organization in its path. */
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

/** The answer of a page that belongs to whatever organization is active. */
export const inActiveOrganization = (handler: (visit: Visit) => Answer) =>
  signedIn(pageRefusals)((session) => Effect.flatMap(visitOf(session), handler))

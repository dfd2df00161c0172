/**
 * A signed-in request for a page, and the check that it is about the active organization.
 *
 * Pages are under `/orgs/{org_id}`, and a session acts in one organization at a time. When another tab has switched it,
 * a page of the previous organization offers to switch back. It never shows or changes the active organization instead.
 */
import { Effect, Fiber } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { ApiFailure } from "../api/ApiRefusal.ts"
import type { ConsoleSession } from "../sessions/ConsoleSession.ts"
import { signedIn } from "../sessions/signedIn.ts"
import type { Frame, NamedPlace } from "../shell/Frame.ts"
import type { UnreadableBody } from "../web/Form.ts"
import type { PerRequest, Services } from "./ConsoleRoute.ts"
import { loadFrame } from "./loadFrame.ts"
import { notFoundPage, otherOrganizationPage, pageRefusals } from "./refusals.tsx"

type Response = HttpServerResponse.HttpServerResponse
type Answer = Effect.Effect<Response, ApiFailure | UnreadableBody, Services | PerRequest>

/** The input of a page handler. */
export interface Visit {
  readonly session: ConsoleSession
  readonly frame: Frame
  /** The newest projects of the organization, on a page that asks for them. */
  readonly projects: ReadonlyArray<NamedPlace>
  /** `/orgs/{org_id}` */
  readonly home: string
  /** A parameter of the path; `""` when the route has none of that name. */
  readonly param: (name: string) => string
  readonly query: URLSearchParams
}

const askedIn = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const params = yield* HttpRouter.params
  const asked: Asked = {
    param: (name) => params[name] ?? "",
    query: new URLSearchParams(request.url.split("?")[1] ?? "")
  }
  return asked
})

const nothing = () => Effect.void

/** The parts of the frame that only some pages need. */
export interface FrameWanted {
  readonly projects: boolean
}

const plain: FrameWanted = { projects: false }

const visitOf = Effect.fnUntraced(function* (session: ConsoleSession, asked: Asked, wanted: FrameWanted) {
  const { frame, projects } = yield* loadFrame(wanted)
  const visit: Visit = { ...asked, session, frame, projects, home: `/orgs/${frame.organization.id}` }
  return visit
})

/** The parts of a visit that are known before the API has answered. */
export type Asked = Pick<Visit, "param" | "query">

/** The reads of a page. */
export type Read<A> = (asked: Asked) => Effect.Effect<A, ApiFailure | UnreadableBody, Services | PerRequest>

/**
 * A page of the organization in its path. Another organization of the person's: 409. Any other id: 404.
 *
 * `read` runs beside the call of the frame: what calls that arrive together need is read once for all of them
 * (docs/design/authorization.md Z49). If the frame fails, that is the answer.
 */
export const inOrganizationReading = <A>(
  read: Read<A>,
  handler: (visit: Visit, read: A) => Answer,
  frameWanted: FrameWanted = plain
) =>
  signedIn(pageRefusals)((session) =>
    Effect.gen(function* () {
      const asked = yield* askedIn
      const wanted = asked.param("org_id")
      // The cookie decides, although its token may be older than the answer. For another organization nothing is read.
      const early = wanted === session.org_id ? yield* Effect.forkChild(read(asked), { startImmediately: true }) : null
      const visit = yield* visitOf(session, asked, frameWanted)
      const { frame } = visit
      if (wanted === frame.organization.id)
        return yield* handler(visit, yield* early === null ? read(asked) : Fiber.join(early))
      const other = frame.organizations.find(({ id }) => id === wanted)
      return other === undefined ? notFoundPage(true) : otherOrganizationPage(frame, other)
    })
  )

/** As `inOrganizationReading`, for a request that reads nothing beside the frame, such as a form. */
export const inOrganization = (handler: (visit: Visit) => Answer) => inOrganizationReading(nothing, handler)

/** A page without an organization in its path; it uses the active one. */
export const inActiveOrganization = (handler: (visit: Visit) => Answer) =>
  signedIn(pageRefusals)((session) =>
    Effect.gen(function* () {
      return yield* handler(yield* visitOf(session, yield* askedIn, plain))
    })
  )

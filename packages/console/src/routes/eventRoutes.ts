/** The relays of the two event streams, for live activity on pages. */
import { parseProjectId } from "@narthex/api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { idOrNotFound } from "../api/ApiRefusal.ts"
import { relayEvents } from "../relay/relayEvents.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { problemRefusals } from "../requests/refusals.tsx"
import { signedIn } from "../sessions/signedIn.ts"

const organizationEvents = signedIn(problemRefusals)((session) =>
  relayEvents((api, request) => api.events.stream(request), session)
)

const projectEvents = signedIn(problemRefusals)((session) =>
  Effect.gen(function* () {
    const { project_id = "" } = yield* HttpRouter.params
    const params = { project_id: yield* idOrNotFound(parseProjectId(project_id)) }
    return yield* relayEvents((api, request) => api.events.projectStream({ ...request, params }), session)
  })
)

export const eventRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/api/events", answer: organizationEvents },
  { method: "GET", path: "/api/projects/:project_id/events", answer: projectEvents }
]

/** The relays of the two event streams, for live activity on pages. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { parseProjectId } from "@narthex/api"
import { idOrNotFound } from "../api/ApiRefusal.ts"
import { relayEvents } from "../relay/relayEvents.ts"
import { signedIn } from "../sessions/signedIn.ts"
import { problemRefusals } from "../requests/refusals.tsx"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"

const organizationEvents = signedIn(problemRefusals)((session) => relayEvents("/v1/events", session))

const projectEvents = signedIn(problemRefusals)((session) =>
  Effect.gen(function* () {
    const { project_id = "" } = yield* HttpRouter.params
    return yield* relayEvents(`/v1/projects/${yield* idOrNotFound(parseProjectId(project_id))}/events`, session)
  })
)

export const eventRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/api/events", answer: organizationEvents },
  { method: "GET", path: "/api/projects/:project_id/events", answer: projectEvents }
]

/** The relays of the two event streams, for live activity on pages. */
import { parseProjectId } from "@narthex/api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { idOrNotFound } from "../api/ApiRefusal.ts"
import { relayEvents } from "../relay/relayEvents.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { problemRefusals } from "../requests/refusals.tsx"
import { signedIn } from "../sessions/signedIn.ts"

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

/** The relays of the two event streams, for the live views of pages. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { parseProjectId } from "@narthex/api"
import { relayEvents } from "../relay/relayEvents.ts"
import { signedIn } from "../sessions/signedIn.ts"
import { problemRefusals } from "../web/refusals.tsx"
import type { ConsoleRoute } from "../web/routes.ts"
import { known } from "./projectPages.tsx"

const organizationEvents = signedIn(problemRefusals)((session) => relayEvents("/v1/events", session))

const projectEvents = signedIn(problemRefusals)((session) =>
  Effect.gen(function* () {
    const { project_id = "" } = yield* HttpRouter.params
    return yield* relayEvents(`/v1/projects/${yield* known(parseProjectId(project_id))}/events`, session)
  })
)

export const eventRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/api/events", answer: organizationEvents },
  { method: "GET", path: "/api/projects/:project_id/events", answer: projectEvents }
]

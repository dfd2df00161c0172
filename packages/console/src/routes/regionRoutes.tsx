/** The page of regions. */
import { Effect } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { inOrganizationReading } from "../requests/Visit.ts"
import { RegionsPage } from "../views/Regions.tsx"
import { page } from "../web/answer.tsx"

const regions = inOrganizationReading(
  () => calling((api) => api.regions.list({})),
  ({ frame }, answer) => Effect.succeed(page(<RegionsPage frame={frame} regions={answer.regions} />))
)

export const regionRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/orgs/:org_id/regions", answer: regions }
]

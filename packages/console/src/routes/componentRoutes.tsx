/** `/dev/components`: the page of all components, in development only (docs/design/console.md W45). */
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { notFoundPage } from "../requests/refusals.tsx"
import { inActiveOrganization } from "../requests/Visit.ts"
import { ComponentsPage } from "../views/Components.tsx"
import { page } from "../web/answer.tsx"

const components = inActiveOrganization(({ frame }) =>
  Effect.map(ConsoleSettings, ({ development }) =>
    development ? page(<ComponentsPage frame={frame} />) : notFoundPage(true)
  )
)

export const componentRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/dev/components", answer: components }
]

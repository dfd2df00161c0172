/** Redirects to the documentation, which the API serves, so that pages link to one address wherever the API is. */
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { seeOther } from "../web/answer.tsx"

export const docsRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/docs", answer: Effect.map(ConsoleSettings, ({ docs_url }) => seeOther(docs_url)) }
]

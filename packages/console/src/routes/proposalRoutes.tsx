/** `/proposal`: what an agent proposes, for a person to read (docs/design/console.md W58). It needs no session. */
import { Effect } from "effect"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { ProposalPage } from "../views/Proposal.tsx"
import { page } from "../web/answer.tsx"

export const proposalRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/proposal", answer: Effect.sync(() => page(<ProposalPage />)) }
]

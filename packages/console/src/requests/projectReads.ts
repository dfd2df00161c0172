/** What several pages of a project read. */
import { Effect } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import type { ProjectVisit } from "./inProject.ts"

/** So many branches and endpoints are read for names and pickers: the newest. */
const named = 1000

export const readBranches = ({ params }: ProjectVisit) =>
  Effect.map(
    calling((api) => api.branches.list({ params, query: { limit: named } })),
    ({ branches }) => branches
  )

export const readEndpoints = ({ params }: ProjectVisit) =>
  Effect.map(
    calling((api) => api.endpoints.list({ params, query: { limit: named } })),
    ({ endpoints }) => endpoints
  )

/** The branch that a form starts with: the wanted one if it exists, else the default one. */
export const branchWanted = (
  wanted: string | null,
  project: ProjectVisit["project"],
  branches: ReadonlyArray<{ readonly id: string }>
): string => branches.find(({ id }) => id === wanted)?.id ?? project.default_branch_id ?? branches[0]?.id ?? ""

/** The visitor's address, as allowlists see it. */
export const readOwnAddress = Effect.map(
  calling((api) => api.auth.clientAddress({})),
  ({ address }) => address
)

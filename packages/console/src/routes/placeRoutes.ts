/** The places of the palette, as JSON: pages of the organization, its projects, and the branches of a few projects. */
import { Effect } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { problemRefusals } from "../requests/refusals.tsx"
import { signedIn } from "../sessions/signedIn.ts"
import { organizationPlaces, projectPlaces } from "../shell/Sidebar.tsx"
import { json } from "../web/answer.tsx"

interface Place {
  readonly label: string
  /** The kind of the place, or where it is. */
  readonly kind: string
  readonly href: string
}

/** The most projects that are offered, newest first. */
const maxProjects = 100
/** The number of projects whose branches are offered too: each costs a call. */
const maxWithBranches = 5

const places = signedIn(problemRefusals)(({ org_id }) =>
  Effect.gen(function* () {
    const home = `/orgs/${org_id}`
    const { projects } = yield* calling((api) => api.projects.list({ query: { limit: maxProjects } }))
    const branches = yield* Effect.forEach(
      projects.slice(0, maxWithBranches),
      (project) =>
        calling((api) => api.branches.list({ params: { project_id: project.id }, query: {} })).pipe(
          Effect.map((answer) => answer.branches.map((branch) => ({ branch, project }))),
          // A project that is deleted in this moment has none.
          Effect.orElseSucceed(() => [])
        ),
      { concurrency: maxWithBranches }
    )
    const found: ReadonlyArray<Place> = [
      ...projects.map(({ id, name }) => ({ label: name, kind: "Project", href: `${home}/projects/${id}` })),
      ...organizationPlaces.map(({ label, path }) => ({ label, kind: "Organization", href: `${home}/${path}` })),
      { label: "New project", kind: "Organization", href: `${home}/projects/new` },
      { label: "Account and sessions", kind: "You", href: "/account" },
      { label: "Your invitations", kind: "You", href: "/invitations" },
      { label: "New organization", kind: "You", href: "/orgs/new" },
      { label: "API documentation", kind: "Help", href: "/docs" },
      ...branches.flat().map(({ branch, project }) => ({
        label: branch.name,
        kind: `Branch of ${project.name}`,
        href: `${home}/projects/${project.id}/branches/${branch.id}`
      })),
      ...projects.slice(0, maxWithBranches).flatMap(({ id, name }) =>
        projectPlaces.slice(1).map(({ label, path }) => ({
          label,
          kind: `of ${name}`,
          href: `${home}/projects/${id}${path}`
        }))
      )
    ]
    return json({ places: found })
  })
)

export const placeRoutes: ReadonlyArray<ConsoleRoute> = [{ method: "GET", path: "/api/places", answer: places }]

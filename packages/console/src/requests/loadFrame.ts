/** Reads the frame of a page: who is signed in, in which organization, and the siblings of the page's project and branch. */
import { type ProjectId, parseProjectId } from "@narthex/api"
import { DateTime, Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { type ApiFailure, calling } from "../api/ApiRefusal.ts"
import type { Frame } from "../shell/Frame.ts"
import { type BranchShown, type ProjectShown, personLabel } from "../views/records.ts"
import { returnPath } from "../web/returnTo.ts"
import { themeIn } from "../web/theme.ts"

/** So many are counted; of more, the navigation says that there are more. */
const countedInvitations = 20

const countOf = (count: number, more: boolean): string | null => (count === 0 ? null : more ? `${count}+` : `${count}`)

/** So many projects or branches are in a menu; the palette has more. */
const inMenu = 30

/** A menu is no reason to fail: without an answer it is left out. */
const orNone = <A, R>(places: Effect.Effect<ReadonlyArray<A>, ApiFailure, R>) =>
  Effect.orElseSucceed(places, (): ReadonlyArray<A> => [])

const noProjects = Effect.succeed<ReadonlyArray<ProjectShown>>([])
const noBranches = Effect.succeed<ReadonlyArray<BranchShown>>([])

const siblings = Effect.gen(function* () {
  const params = yield* HttpRouter.params
  const project = parseProjectId(params["project_id"] ?? "")
  const onBranch = params["branch_id"] !== undefined
  const projects = orNone(
    Effect.map(
      calling((api) => api.projects.list({ query: { limit: inMenu } })),
      (answer) => answer.projects
    )
  )
  const branches = (project_id: ProjectId) =>
    orNone(
      Effect.map(
        calling((api) => api.branches.list({ params: { project_id }, query: { limit: inMenu } })),
        (answer) => answer.branches
      )
    )
  return yield* Effect.all(
    Option.match(project, {
      onNone: () => ({ projects: noProjects, branches: noBranches }),
      onSome: (id) => ({ projects, branches: onBranch ? branches(id) : noBranches })
    }),
    { concurrency: "unbounded" }
  )
})

/**
 * The frame, and the projects that were read for its menu, among which the page's own usually is.
 *
 * Not cached: other clients change roles and memberships too.
 */
export const loadFrame = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const [who, { organizations }, invitations, { branches, projects }] = yield* Effect.all(
    [
      calling((api) => api.auth.whoami({})),
      calling((api) => api.orgs.list({ query: {} })),
      calling((api) => api.ownInvitations.list({ query: { limit: countedInvitations } })),
      siblings
    ],
    { concurrency: "unbounded" }
  )
  const frame: Frame = {
    user: who.user,
    organization: who.organization,
    organizations,
    inviter: who.invited_by === null ? null : personLabel(who.invited_by),
    invitations: countOf(invitations.invitations.length, invitations.pagination.next_cursor !== null),
    permissions: who.permissions,
    here: returnPath(request.url) ?? "/projects",
    now: yield* DateTime.now,
    theme: themeIn(request.cookies),
    projects,
    branches
  }
  return { frame, projects }
})

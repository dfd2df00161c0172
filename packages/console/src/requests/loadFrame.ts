/** Reads the frame of a page, with one call: who is signed in, in which organization, and the places to go to. */
import { DateTime, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { calling } from "../api/ApiRefusal.ts"
import { type Frame, inMenu } from "../shell/Frame.ts"
import { personLabel } from "../views/records.ts"
import { returnPath } from "../web/returnTo.ts"
import { themeIn } from "../web/theme.ts"

/** The API counts no more (docs/design/api.md A31); of as many, the navigation says that there may be more. */
const countedInvitations = 100

const countOf = (count: number): string | null =>
  count === 0 ? null : count < countedInvitations ? `${count}` : `${countedInvitations - 1}+`

/**
 * The frame, and the newest projects of the organization by name, if the page asks for them.
 *
 * Not cached: other clients change roles and memberships too.
 */
export const loadFrame = Effect.fnUntraced(function* (wanted: { readonly projects: boolean }) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const account = yield* calling((api) => api.auth.account({ query: wanted.projects ? { include: ["projects"] } : {} }))
  const projects = account.projects ?? []
  const frame: Frame = {
    user: account.user,
    organization: account.organization,
    organizations: account.organizations,
    inviter: account.invited_by === null ? null : personLabel(account.invited_by),
    invitations: countOf(account.pending_invitations),
    permissions: account.permissions,
    here: returnPath(request.url) ?? "/projects",
    now: yield* DateTime.now,
    theme: themeIn(request.cookies),
    projects: projects.slice(0, inMenu),
    branches: []
  }
  return { frame, projects }
})

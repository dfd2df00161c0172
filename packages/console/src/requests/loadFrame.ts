/** Reads the frame of a page: who is signed in, and in which organization. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { calling } from "../api/ApiRefusal.ts"
import type { Frame } from "../views/Layout.tsx"
import { returnPath } from "../web/returnTo.ts"

/** So many are counted; of more, the navigation says that there are more. */
const countedInvitations = 20

const countOf = (count: number, more: boolean): string | null => (count === 0 ? null : more ? `${count}+` : `${count}`)

/** Not cached: other clients change roles and memberships too. */
export const loadFrame = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const [who, { organizations }, invitations] = yield* Effect.all(
    [
      calling((api) => api.auth.whoami({})),
      calling((api) => api.orgs.list({ query: {} })),
      calling((api) => api.ownInvitations.list({ query: { limit: countedInvitations } }))
    ],
    { concurrency: "unbounded" }
  )
  const frame: Frame = {
    user: who.user,
    organization: who.organization,
    organizations,
    inviter: who.invited_by,
    invitations: countOf(invitations.invitations.length, invitations.pagination.next_cursor !== null),
    permissions: who.permissions,
    here: returnPath(request.url) ?? "/projects"
  }
  return frame
})

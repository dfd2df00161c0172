/** Reads the frame of a page: who is signed in, and in which organization. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { calling } from "../api/ApiRefusal.ts"
import type { Frame } from "../views/Layout.tsx"
import { returnPath } from "../web/returnTo.ts"

/** Not cached: other clients change roles and memberships too. */
export const loadFrame = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  const [who, { organizations }] = yield* Effect.all(
    [calling((api) => api.auth.whoami({})), calling((api) => api.orgs.list({ query: {} }))],
    { concurrency: "unbounded" }
  )
  const frame: Frame = {
    user: who.user,
    organization: who.organization,
    organizations,
    permissions: who.permissions,
    here: returnPath(request.url) ?? "/projects"
  }
  return frame
})

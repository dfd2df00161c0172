/** The person's own invitations: list, accept, decline (docs/design/console.md W17). */
import { parseInvitationId } from "@narthex/api"
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { calling, idOrNotFound, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { noticeIn, withNotice } from "../requests/notices.ts"
import { pageRefusals } from "../requests/refusals.tsx"
import { inActiveOrganization } from "../requests/Visit.ts"
import { invitedIn } from "../sessions/invitationLinks.ts"
import { signedIn } from "../sessions/signedIn.ts"
import { InvitationsPage } from "../views/Invitations.tsx"
import { MessagePage } from "../views/Landing.tsx"
import { page, seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const list = inActiveOrganization(({ frame, query }) =>
  Effect.gen(function* () {
    const cursor = query.get("cursor")
    const { invitations, pagination } = yield* calling((api) =>
      api.ownInvitations.list({ query: cursor === null ? {} : { cursor } })
    )
    const joined = frame.organizations.find(({ id }) => id === query.get("joined"))
    return page(
      <InvitationsPage
        frame={frame}
        invitations={invitations}
        next_cursor={pagination.next_cursor}
        notice={noticeIn(query)}
        joined={joined}
        invited={yield* invitedIn(query.get("for"))}
        form_token={newFormToken}
      />
    )
  })
)

const closed = page(
  <MessagePage
    title="This invitation is closed"
    signedIn
    next={{ href: "/invitations", label: "See your invitations" }}
  >
    <p>It was accepted, declined or revoked, or it has expired. Ask for a new one.</p>
  </MessagePage>,
  { status: 404 }
)

const params = Effect.flatMap(HttpRouter.params, ({ invitation_id = "" }) =>
  Effect.map(idOrNotFound(parseInvitationId(invitation_id)), (id) => ({ invitation_id: id }))
)

/** A pending account is redirected from here to `/pending`. */
const accept = signedIn(pageRefusals)(() =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const which = yield* params
    const { organization } = yield* callOnce(form)(calling((api) => api.ownInvitations.accept({ params: which })))
    return seeOther(`/invitations?joined=${organization.id}`)
  }).pipe(Effect.catchIf(refusedWith("not_found"), () => Effect.succeed(closed)))
)

const decline = signedIn(pageRefusals)(() =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const which = yield* params
    yield* callOnce(form)(calling((api) => api.ownInvitations.decline({ params: which })))
    return seeOther(withNotice("/invitations", "invitation-declined"))
  }).pipe(Effect.catchIf(refusedWith("not_found"), () => Effect.succeed(closed)))
)

export const invitationRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path: "/invitations", answer: list },
  { method: "POST", path: "/invitations/:invitation_id/accept", answer: accept },
  { method: "POST", path: "/invitations/:invitation_id/decline", answer: decline }
]

/** Serves `InvitationsApi` from the core. */
import { Api } from "@narthex/api"
import { Invitations, Principal } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { pageOf } from "./records.ts"

export const InvitationsHandlers = HttpApiBuilder.group(
  Api,
  "invitations",
  Effect.fn(function* (handlers) {
    const invitations = yield* Invitations
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { org_id } = yield* Principal
        const { items, next_cursor } = yield* problems(invitations.list(org_id, page))
        return { invitations: items, pagination: { next_cursor } }
      }),
      invite: Effect.fnUntraced(function* ({ payload: { email, role = "member" } }) {
        return { invitation: yield* problems(invitations.create(yield* Principal, { email, role })) }
      }),
      resend: Effect.fnUntraced(function* ({ params }) {
        return { invitation: yield* problems(invitations.resend(yield* Principal, params.invitation_id)) }
      }),
      revoke: ({ params }) =>
        Effect.flatMap(Principal, (caller) => problems(invitations.revoke(caller, params.invitation_id)))
    })
  })
)

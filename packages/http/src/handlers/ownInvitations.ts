/** Serves `OwnInvitationsApi` from the core. */
import { Api } from "@narthex/api"
import { OwnInvitations, Principal } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { pageOf } from "./records.ts"

export const OwnInvitationsHandlers = HttpApiBuilder.group(
  Api,
  "ownInvitations",
  Effect.fn(function* (handlers) {
    const invitations = yield* OwnInvitations
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(invitations.list(yield* Principal, page))
        return { invitations: items, pagination: { next_cursor } }
      }),
      accept: Effect.fnUntraced(function* ({ params }) {
        return { organization: yield* problems(invitations.accept(yield* Principal, params.invitation_id)) }
      }),
      decline: ({ params }) =>
        Effect.flatMap(Principal, (caller) => problems(invitations.decline(caller, params.invitation_id)))
    })
  })
)

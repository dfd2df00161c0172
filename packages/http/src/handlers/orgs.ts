/** Serves `OrganizationsApi` from the core. */
import { Api, confirmsLockout } from "@narthex/api"
import { Organizations, Principal } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { pageOf } from "./records.ts"

export const OrganizationsHandlers = HttpApiBuilder.group(
  Api,
  "orgs",
  Effect.fn(function* (handlers) {
    const organizations = yield* Organizations
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(organizations.list(yield* Principal, page))
        return { organizations: items, pagination: { next_cursor } }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        return { organization: yield* problems(organizations.create(yield* Principal, payload.name)) }
      }),
      get: Effect.fnUntraced(function* () {
        return { organization: yield* problems(organizations.read(yield* Principal)) }
      }),
      usage: Effect.fnUntraced(function* () {
        return { usage: yield* problems(organizations.usage(yield* Principal)) }
      }),
      rename: Effect.fnUntraced(function* ({ payload }) {
        return { organization: yield* problems(organizations.rename(yield* Principal, payload.name)) }
      }),
      delete: () => Effect.flatMap(Principal, (caller) => problems(organizations.remove(caller))),
      members: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(organizations.members((yield* Principal).org_id, page))
        return { members: items, pagination: { next_cursor } }
      }),
      changeMember: Effect.fnUntraced(function* ({ params, payload, query }) {
        const confirmed = confirmsLockout(query)
        const changed = organizations.changeRole(yield* Principal, params.user_id, payload.role, confirmed)
        return { member: yield* problems(changed) }
      }),
      removeMember: Effect.fnUntraced(function* ({ params, query }) {
        const caller = yield* Principal
        const how = {
          confirmed: confirmsLockout(query),
          hand_over_credentials: query.hand_over_credentials === "true"
        }
        return yield* problems(organizations.removeMember(caller, params.user_id, how))
      }),
      holdings: Effect.fnUntraced(function* ({ params }) {
        return { holdings: yield* problems(organizations.holdings(yield* Principal, params.user_id)) }
      })
    })
  })
)

/** Switches a session to another organization. The caller sets the cookie of `next`. */
import { AnyOrgId } from "@narthex/api"
import { Effect, Schema } from "effect"
import { calling } from "../api/ApiRefusal.ts"
import { payload } from "../api/payload.ts"
import type { ConsoleSession } from "./ConsoleSession.ts"
import { Sessions } from "./Sessions.ts"

const SwitchOrganization = Schema.Struct({ org_id: AnyOrgId })

/** Any text may be an id here: the API answers foreign, unknown and malformed ones alike. */
export const switchOrganization = Effect.fnUntraced(function* (session: ConsoleSession, org_id: string) {
  const call = calling((api) =>
    Effect.flatMap(payload(SwitchOrganization, { org_id }), (body) => api.auth.switchOrg({ payload: body }))
  )
  return yield* (yield* Sessions).switched(session, call)
})

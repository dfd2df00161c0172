/**
 * Counts a call against the limit of its endpoint, where that counts by user, or by caller and organization.
 *
 * Pitfall: counting by API key alone. The keys of an organization would have a limit each, and a person makes many.
 * Pitfall: counting what ends something for the organization. A member who uses its limit up would keep an administrator
 * from revoking that member's keys.
 */
import { endsSomething, limitOf, rateLimits } from "@narthex/api"
import type { AnyCaller } from "@narthex/core"
import { Effect } from "effect"
import type { Limits } from "./Limits.ts"
import { organizationLimits } from "./RateLimits.ts"

/** Returns the 429 when the call is over a limit. A call that the caller's own limit refuses does not count for the organization. */
export const takePerCaller = Effect.fnUntraced(function* (
  { take }: Limits["Service"],
  endpoint: Parameters<typeof limitOf>[0],
  caller: AnyCaller
) {
  const limit = limitOf(endpoint)
  if (limit === undefined) return undefined
  if (rateLimits[limit] === "user") return yield* take(limit, caller.user.id)
  if (limit !== "creation" && limit !== "invitation_creation" && limit !== "changes") return undefined
  const subject = caller.kind === "session" ? caller.user.id : caller.api_key_id
  const refused = yield* take(limit, subject)
  if (refused !== undefined || endsSomething(endpoint)) return refused
  return yield* take(organizationLimits[limit], caller.org_id)
})

/** The caller of a call that only sessions get to. The policy sees to that; a key here would be a mistake of ours. */
import { Principal, type SessionCaller } from "@narthex/core"
import { Effect } from "effect"

export const sessionCaller: Effect.Effect<SessionCaller, never, Principal> = Effect.filterOrElse(
  Principal,
  (caller): caller is SessionCaller => caller.kind === "session",
  () => Effect.die(new Error("A key came through a session's policy."))
)

/** A session as the API answers it. Clients read it without the group that issues it. */
import { ActiveOrganization, UserProfile } from "@narthex/core"
import { Schema } from "effect"
import { nullBefore, Secret } from "./members.ts"
import { OpenAccountState } from "./Shapes.ts"

const at = Schema.DateTimeUtcFromString

/**
 * The answer of exchange, refresh and switch-org. `invited_by`: the first sign-in made the person a member of the
 * organization, and the person has not confirmed it yet.
 */
export const SessionAnswer = Schema.Struct({
  access_token: Secret,
  token_type: Schema.Literal("Bearer"),
  expires_at: at,
  refresh_until: at,
  account_state: OpenAccountState,
  user: UserProfile,
  organization: ActiveOrganization,
  invited_by: nullBefore(UserProfile)
}).annotate({ identifier: "SessionAnswer" })
export type SessionAnswer = typeof SessionAnswer.Type

/**
 * Links of invitations (docs/design/console.md W37). A link says who invites which address into which organization, to
 * the console alone: it is sealed, so it can be neither read nor made up, and its page looks nothing up.
 *
 * Pitfall: letting a link open something. The verified address of the sign-in decides, and the API compares it.
 */
import type { InvitationRecord } from "@narthex/api"
import { DateTime, Effect, Option, Schema } from "effect"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { InvitedShown } from "../views/Invitations.tsx"
import { SealedCookies } from "./SealedCookies.ts"

const Invited = Schema.Struct({
  email: Schema.String,
  organization: Schema.String,
  inviter: Schema.NullOr(Schema.String)
})

const place = "/invitations?for="

/** A new link, which ends with the invitation. */
export const linkOf = Effect.fnUntraced(function* (
  { email, expires_at, invited_by }: typeof InvitationRecord.Type,
  organization: string
) {
  const { origin } = yield* ConsoleSettings
  const invited: InvitedShown = { email, organization, inviter: invited_by.email }
  const until = DateTime.toEpochMillis(expires_at)
  return `${origin}${place}${yield* (yield* SealedCookies).seal("invitation", { ...invited }, until)}`
})

/** The content of the link with this `for`; `null`: the console made no such link, or it has expired. */
export const invitedIn = Effect.fnUntraced(function* (text: string | null) {
  const content = text === null ? Option.none() : yield* (yield* SealedCookies).open("invitation", text)
  return Option.getOrNull(Option.flatMap(content, Schema.decodeUnknownOption(Invited)))
})

/** The same of a page to return to after sign-in. */
export const invitedAt = (path: string | undefined) =>
  invitedIn(path?.startsWith(place) === true ? path.slice(place.length) : null)

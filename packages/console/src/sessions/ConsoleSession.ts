/**
 * The session of a browser: the API's token, and the times that decide when to refresh it. It is stored in the cookie
 * only, so every instance of the console can serve it.
 */
import type { SessionAnswer } from "@narthex/api"
import { DateTime, Redacted, Schema } from "effect"

export const ConsoleSession = Schema.Struct({
  /** Made by the console at sign-in; it does not change when the token is refreshed. */
  id: Schema.NonEmptyString,
  access_token: Schema.RedactedFromValue(Schema.NonEmptyString),
  /** The organization that the token acts in. */
  org_id: Schema.NonEmptyString,
  /** Milliseconds since 1970: when the token was received, when it expires, when it can no longer be refreshed. */
  issued_at: Schema.Int,
  expires_at: Schema.Int,
  refresh_until: Schema.Int
})
export type ConsoleSession = typeof ConsoleSession.Type

/** The content of the cookie. `ConsoleSession` decodes it. */
export const toCookie = (session: ConsoleSession) => ({
  ...session,
  access_token: Redacted.value(session.access_token)
})

export const sessionOf = (id: string, answer: SessionAnswer, now: number): ConsoleSession => ({
  id,
  access_token: answer.access_token,
  org_id: answer.organization.id,
  issued_at: now,
  expires_at: DateTime.toEpochMillis(answer.expires_at),
  refresh_until: DateTime.toEpochMillis(answer.refresh_until)
})

/** Milliseconds before its expiry at which a token is refreshed: a page makes several calls, and clocks differ. */
const maxRefreshLead = 60_000

/** Whether the token has expired or is about to. A short-lived token is refreshed in the last fifth of its life. */
export const needsRefresh = ({ expires_at, issued_at }: ConsoleSession, now: number): boolean =>
  now >= expires_at - Math.min(maxRefreshLead, Math.max(0, expires_at - issued_at) / 5)

export const hasEnded = (session: ConsoleSession, now: number): boolean => now >= session.refresh_until

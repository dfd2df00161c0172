/**
 * A signed-in browser: the API's token and what is needed to keep it fresh. It lives in the cookie and nowhere else, so
 * every instance of the console can serve it.
 */
import { DateTime, Redacted, Schema } from "effect"
import type { SessionAnswer } from "@narthex/api"

export const ConsoleSession = Schema.Struct({
  /** Ours, made at sign-in: it stays while tokens change. */
  id: Schema.NonEmptyString,
  access_token: Schema.RedactedFromValue(Schema.NonEmptyString),
  /** The organization that the token acts in. */
  org_id: Schema.NonEmptyString,
  /** Milliseconds since 1970: when we got the token, when it ends, when refreshing ends. */
  issued_at: Schema.Int,
  expires_at: Schema.Int,
  refresh_until: Schema.Int
})
export type ConsoleSession = typeof ConsoleSession.Type

/** The cookie's content. It is read back with `Schema.decodeUnknownOption(ConsoleSession)`. */
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

/** So long before its end a token is refreshed: a page makes several calls, and clocks differ. */
const earliest = 60_000

/** Is the token's end near, or past? Of a short-lived token the last fifth counts as near. */
export const needsRefresh = ({ expires_at, issued_at }: ConsoleSession, now: number): boolean =>
  now >= expires_at - Math.min(earliest, Math.max(0, expires_at - issued_at) / 5)

export const hasEnded = (session: ConsoleSession, now: number): boolean => now >= session.refresh_until

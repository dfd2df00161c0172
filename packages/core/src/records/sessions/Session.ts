/**
 * A signed-in browser session, and the JWT that speaks for it (docs/design/identity.md I21–I29).
 *
 * The row is authoritative; the token is a claim about it. `generation` grows with every token and identifies
 * superseded ones. The window of 12 hours counts from the sign-in in the row, never from a token.
 */
import { Context, DateTime, Duration, Schema } from "effect"
import { OrgId, SessionId, UserId } from "../../Ids.ts"

export const SessionEnd = Schema.Literals(["signed_out", "ended_by_owner", "reused", "allowlist", "disabled"])
export type SessionEnd = typeof SessionEnd.Type

export class Session extends Schema.Class<Session>("Session")({
  id: SessionId,
  user_id: UserId,
  active_org_id: OrgId,
  generation: Schema.Int,
  /** When the current generation was issued. */
  refreshed_at: Schema.DateTimeUtcFromString,
  signed_in_at: Schema.DateTimeUtcFromString,
  revoked_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  revoked_reason: Schema.NullOr(SessionEnd),
  /** The provider's id in our configuration. */
  provider: Schema.String,
  user_agent: Schema.NullOr(Schema.String),
  address: Schema.NullOr(Schema.String),
  /**
   * The id token that began the session, by issuer and digest, or the host's own session, by its digest: after a sign-out
   * it cannot begin another.
   */
  id_token_digest: Schema.String
}) {
  refreshUntil(window: Duration.Duration): DateTime.Utc {
    return DateTime.addDuration(this.signed_in_at, window)
  }
}

/**
 * Lifetimes and the rule for superseded tokens (`NARTHEX_JWT_LIFETIME`, `NARTHEX_SESSION_WINDOW`,
 * `NARTHEX_SESSION_REUSE`).
 */
export interface SessionSettings {
  readonly jwt_lifetime: Duration.Duration
  readonly window: Duration.Duration
  readonly reuse: "observe" | "grace60" | "revoke"
  readonly id_token_replay: "allow" | "reject"
}

export const SessionPolicy = Context.Reference<SessionSettings>("@narthex/core/records/sessions/SessionPolicy", {
  defaultValue: () => ({
    jwt_lifetime: Duration.minutes(15),
    window: Duration.hours(12),
    reuse: "observe",
    id_token_replay: "allow"
  })
})

/** The claims of a session JWT. Times are whole seconds since 1970 (RFC 7519 §2, NumericDate). */
export const SessionClaims = Schema.Struct({
  sub: UserId,
  sid: SessionId,
  org_id: OrgId,
  role: Schema.String,
  auth_time: Schema.Int,
  iat: Schema.Int,
  exp: Schema.Int,
  jti: Schema.NonEmptyString,
  gen: Schema.Int
})
export type SessionClaims = typeof SessionClaims.Type

/**
 * The short-lived code between the Authorize button and the key of the command line (docs/design/identity.md I36–I41;
 * RFC 8252, RFC 7636). Only digests of the code and the state are kept.
 */
import { DateTime, Duration, Schema } from "effect"
import { OrgId, SessionId, UserId } from "../../Ids.ts"
import { Capability, Scope } from "../keys/ApiKey.ts"

export const cliCodeLifetime = Duration.seconds(60)

/** After this many wrong verifiers a code can no longer be exchanged. */
export const maxWrongVerifiers = 5

export class CliGrant extends Schema.Class<CliGrant>("CliGrant")({
  code_digest: Schema.String,
  state_digest: Schema.String,
  code_challenge: Schema.String,
  redirect_uri: Schema.String,
  user_id: UserId,
  org_id: OrgId,
  session_id: SessionId,
  name: Schema.String,
  capability: Capability,
  scope: Scope,
  expires_in_days: Schema.NullOr(Schema.Int),
  created_at: Schema.DateTimeUtcFromString,
  expires_at: Schema.DateTimeUtcFromString,
  consumed_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  wrong_verifiers: Schema.Int
}) {
  /** Whether the code can still be exchanged. */
  openAt(now: DateTime.Utc): boolean {
    return (
      this.consumed_at === null && this.wrong_verifiers < maxWrongVerifiers && DateTime.isLessThan(now, this.expires_at)
    )
  }
}

const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]):([1-9]\d{3,4})(\/[A-Za-z0-9/_.~-]*)?$/

/**
 * Whether this is a loopback redirect that may receive a code: decided by the raw text, before any URL parser sees it;
 * `localhost` is refused (RFC 8252 §8.3).
 */
export const isLoopbackRedirect = (text: string): boolean => {
  const found = loopback.exec(text)
  if (found === null) return false
  const port = Number(found[2])
  return port >= 1024 && port <= 65_535 && !(found[3] ?? "").split("/").includes("..")
}

/** `state`: 22 to 128 characters of base64url. */
export const CliState = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{22,128}$/u))

/** A PKCE challenge of method S256: the base64url SHA-256, 43 characters (RFC 7636 §4.2). */
export const CodeChallenge = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{43}$/u))

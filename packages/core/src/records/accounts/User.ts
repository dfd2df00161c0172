/**
 * A person who signed in. `(issuer, subject)` is the identity. The address is for display and for matching invitations
 * and the sign-in allowlist, and only a verified address matches anything (docs/design/identity.md I9–I14).
 *
 * Enabled and disabled are two separate facts; whether an account is pending is computed from them on each request.
 */
import { Schema } from "effect"
import { UserId } from "../../Ids.ts"
import { UserRef } from "./UserRef.ts"

export const AccountState = Schema.Literals(["active", "pending"])
export type AccountState = typeof AccountState.Type

export class User extends Schema.Class<User>("User")({
  id: UserId,
  issuer: Schema.String,
  subject: Schema.String,
  email: Schema.NullOr(Schema.String),
  /** Whether the provider has verified the address. */
  email_verified: Schema.Boolean,
  name: Schema.NullOr(Schema.String),
  created_at: Schema.DateTimeUtcFromString,
  enabled_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  disabled_at: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {
  get ref(): UserRef {
    return new UserRef({ id: this.id, email: this.email })
  }
}

/** A user as the session answer and whoami show one. */
export class UserProfile extends Schema.Class<UserProfile>("UserProfile")({
  id: UserId,
  email: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String)
}) {}

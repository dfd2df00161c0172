/** A user belongs to an organization, in a role. */
import { Effect, Schema } from "effect"
import { OrgId, UserId } from "../../Ids.ts"
import { UserProfile } from "./User.ts"

export class Membership extends Schema.Class<Membership>("Membership")({
  org_id: OrgId,
  user_id: UserId,
  role: Schema.String,
  joined_at: Schema.DateTimeUtcFromString,
  /**
   * The inviter of a user whose first sign-in led into this organization, until the user confirms the membership by
   * switching to it. `null`: confirmed, or joined in another way.
   */
  invited_by: Schema.NullOr(UserProfile).pipe(Schema.withConstructorDefault(Effect.succeed(null)))
}) {}

/** A member as the organization lists one. */
export class Member extends Schema.Class<Member>("Member")({
  user_id: UserId,
  email: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  role: Schema.String,
  joined_at: Schema.DateTimeUtcFromString
}) {}

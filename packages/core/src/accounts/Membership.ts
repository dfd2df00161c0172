/** A user belongs to an organization, in a role. */
import { Schema } from "effect"
import { OrgId, UserId } from "../Ids.ts"

export class Membership extends Schema.Class<Membership>("Membership")({
  org_id: OrgId,
  user_id: UserId,
  role: Schema.String,
  joined_at: Schema.DateTimeUtcFromString
}) {}

/** A member as the organization lists one. */
export class Member extends Schema.Class<Member>("Member")({
  user_id: UserId,
  email: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  role: Schema.String,
  joined_at: Schema.DateTimeUtcFromString
}) {}

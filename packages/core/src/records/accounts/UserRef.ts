/** A reference to a user in other records, such as `created_by`. `email` is for display and may be unknown. */
import { Schema } from "effect"
import { UserId } from "../../Ids.ts"

export class UserRef extends Schema.Class<UserRef>("UserRef")({
  id: UserId,
  email: Schema.NullOr(Schema.String)
}) {}

/** The owner of everything. A personal organization is created with its user and can be neither left nor deleted. */
import { Schema } from "effect"
import { OrgId, type UserId } from "../../Ids.ts"

export class Organization extends Schema.Class<Organization>("Organization")({
  id: OrgId,
  name: Schema.String,
  personal: Schema.Boolean,
  created_at: Schema.DateTimeUtcFromString,
  updated_at: Schema.DateTimeUtcFromString
}) {}

/**
 * The personal organization of a user has that user's id. So there is exactly one, and a member who was invited into it
 * cannot be mistaken for its user.
 */
export const personalOrgId = (user: UserId): OrgId => OrgId.make(user)

/** An organization as one of its members sees it; `role` is that member's. */
export class OrganizationView extends Organization.extend<OrganizationView>("OrganizationView")({
  role: Schema.String
}) {}

/**
 * The organization that a credential acts in. `role` is `null` after the membership ended.
 *
 * A struct and no class: each request makes one from values of storage, and the constructor of a class would validate
 * them again.
 */
export const ActiveOrganization = Schema.Struct({
  id: OrgId,
  name: Schema.String,
  role: Schema.NullOr(Schema.String),
  personal: Schema.Boolean
}).annotate({ identifier: "ActiveOrganization" })
export type ActiveOrganization = typeof ActiveOrganization.Type

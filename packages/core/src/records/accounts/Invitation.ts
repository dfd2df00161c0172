/**
 * An invitation of an address into an organization. No mail is sent and there is no token: the verified address
 * decides.
 *
 * `expired` is computed from the clock and never stored; the store keeps the three instants.
 */
import { DateTime, Schema } from "effect"
import { InvitationId, OrgId } from "../../Ids.ts"
import { UserProfile } from "./User.ts"
import { UserRef } from "./UserRef.ts"

export const InvitationStatus = Schema.Literals(["pending", "accepted", "revoked", "expired"])
export type InvitationStatus = typeof InvitationStatus.Type

/** How many days an invitation stays pending; `resend` starts them again. */
export const invitationDays = 7

export class StoredInvitation extends Schema.Class<StoredInvitation>("StoredInvitation")({
  id: InvitationId,
  org_id: OrgId,
  email: Schema.String,
  role: Schema.String,
  invited_by: UserRef,
  created_at: Schema.DateTimeUtcFromString,
  expires_at: Schema.DateTimeUtcFromString,
  accepted_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  revoked_at: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {
  statusAt(now: DateTime.Utc): InvitationStatus {
    if (this.accepted_at !== null) return "accepted"
    if (this.revoked_at !== null) return "revoked"
    return DateTime.isLessThan(now, this.expires_at) ? "pending" : "expired"
  }
}

/** A pending invitation as the invited person sees it: by whom, and into which organization. */
export class OwnInvitation extends Schema.Class<OwnInvitation>("OwnInvitation")({
  id: InvitationId,
  organization: Schema.Struct({ id: OrgId, name: Schema.String }),
  role: Schema.String,
  /** The address as it was when the invitation was made, and the present name. */
  invited_by: UserProfile,
  created_at: Schema.DateTimeUtcFromString,
  expires_at: Schema.DateTimeUtcFromString
}) {}

/** An invitation as the API shows it. */
export class Invitation extends StoredInvitation.extend<Invitation>("Invitation")({
  status: InvitationStatus
}) {}

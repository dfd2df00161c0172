/** An API key: who it acts as, how far it reaches and what it may do there. The secret is not part of it. */
import { DateTime, Schema } from "effect"
import { ApiKeyId, BranchId, type OrgId, ProjectId } from "../../Ids.ts"
import { UserRef } from "../accounts/UserRef.ts"

export const Capability = Schema.Literals(["read_write", "read", "agent"])
export type Capability = typeof Capability.Type

export const OrganizationScope = Schema.Struct({ type: Schema.Literal("organization") })
export const ProjectScope = Schema.Struct({ type: Schema.Literal("project"), project_id: ProjectId })
export const BranchScope = Schema.Struct({ type: Schema.Literal("branch"), project_id: ProjectId, branch_id: BranchId })
export const Scope = Schema.Union([OrganizationScope, ProjectScope, BranchScope])
export type Scope = typeof Scope.Type

/** A key as the API shows it. `hint` is `…` and the last four characters of its secret. */
export class ApiKey extends Schema.Class<ApiKey>("ApiKey")({
  id: ApiKeyId,
  name: Schema.String,
  hint: Schema.String,
  capability: Capability,
  scope: Scope,
  created_at: Schema.DateTimeUtcFromString,
  created_by: UserRef,
  expires_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  last_used_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  last_used_from: Schema.NullOr(Schema.String),
  revoked_at: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {
  /** At the instant of expiry the key no longer works. */
  expiredAt(now: DateTime.Utc): boolean {
    return this.expires_at !== null && DateTime.isGreaterThanOrEqualTo(now, this.expires_at)
  }
}

export const KeyEnd = Schema.Literals([
  "revoked",
  "self_revoked",
  "reported",
  "membership_ended",
  "organization_deleted",
  "scope_deleted"
])
export type KeyEnd = typeof KeyEnd.Type

/** A key as it is stored: with its organization, why it ended, and the digests of its valid secrets. */
export interface StoredApiKey {
  readonly key: ApiKey
  readonly org_id: OrgId
  readonly revoked_reason: KeyEnd | null
  readonly secrets: ReadonlyArray<StoredSecret>
}

/** One secret of a key. A rotation leaves the old secret valid for a grace period. */
export interface StoredSecret {
  readonly digest: string
  readonly pepper_id: string
  /** When this secret stops working on its own; `null`: with its key. */
  readonly dies_at: DateTime.Utc | null
}

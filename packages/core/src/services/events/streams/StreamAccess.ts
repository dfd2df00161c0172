/** The scope and the principal of a stream, and the revocations that end it (docs/design/events.md E29). */
import type { DateTime } from "effect"
import type { ApiKeyId, BranchId, OrgId, ProjectId, SessionId, UserId } from "../../../Ids.ts"
import type { Revocation } from "../../../records/events/InternalEvents.ts"
import type { StoredSecret } from "../../../records/keys/ApiKey.ts"

/** The principal of a stream: a session or an API key, and the person behind it. */
export interface StreamPrincipal {
  readonly session_id: SessionId | null
  readonly api_key_id: ApiKeyId | null
  /** The secret of the key that opened the stream, with the expiry that it had then; `null`: a session. */
  readonly secret: Pick<StoredSecret, "digest" | "dies_at"> | null
  /** The person of the session, or the creator of the key. */
  readonly user_id: UserId
  /** The scope of a key that is narrowed to a project or a branch. */
  readonly project_id: ProjectId | null
  readonly branch_id: BranchId | null
}

export interface StreamAccess {
  readonly org_id: OrgId
  /** `null`: the whole organization, events without a project included. */
  readonly project_id: ProjectId | null
  readonly principal: StreamPrincipal
}

export interface StreamOptions {
  readonly access: StreamAccess
  /** When the credential expires; `null`: never. */
  readonly expires_at: DateTime.Utc | null
  /** The types of events to send; empty: all. Frames of the broker itself are always sent. */
  readonly types: ReadonlyArray<string>
  /** Whether the client understands blocks that only move its position. */
  readonly bookmarks: boolean
}

/** Whether this revocation ends streams with this access. */
export const revokes = (revocation: Revocation, { org_id, project_id, principal }: StreamAccess): boolean => {
  if ("session_id" in revocation) return principal.session_id === revocation.session_id
  if ("api_key_id" in revocation) return principal.api_key_id === revocation.api_key_id
  if ("project_id" in revocation)
    return project_id === revocation.project_id || principal.project_id === revocation.project_id
  if ("branch_id" in revocation) return principal.branch_id === revocation.branch_id
  if ("user_id" in revocation && principal.user_id !== revocation.user_id) return false
  return !("org_id" in revocation) || org_id === revocation.org_id
}

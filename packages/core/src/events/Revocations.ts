/**
 * Internal events: they travel in the one order of the log, and no client ever sees them.
 *
 * A revocation is emitted by the transaction that takes a right away. Every instance applies it in its place, so
 * nothing that was committed after it reaches whom it concerns (docs/design/events.md E28–E33). What one would get
 * wrong: emitting it anywhere but in that very transaction.
 */
import { Option, Schema } from "effect"
import { ApiKeyId, BranchId, OrgId, ProjectId, SessionId, UserId } from "../Ids.ts"
import type { StoredSecret } from "../keys/ApiKey.ts"
import type { EventData, NewEvent } from "./Envelope.ts"

export const revokedType = "internal.revoked.v1"
export const allowlistChangedType = "internal.allowlist_changed.v1"

/** Whose streams end. The first form that fits counts: `{org_id, user_id}` is one membership, `{user_id}` the account. */
export const Revocation = Schema.Union([
  Schema.Struct({ session_id: SessionId }),
  Schema.Struct({ api_key_id: ApiKeyId }),
  Schema.Struct({ project_id: ProjectId }),
  Schema.Struct({ branch_id: BranchId }),
  Schema.Struct({ org_id: OrgId, user_id: UserId }),
  Schema.Struct({ user_id: UserId }),
  Schema.Struct({ org_id: OrgId })
])
export type Revocation = typeof Revocation.Type

export const AllowlistChange = Schema.Struct({ project_id: ProjectId, version: Schema.Int })
export type AllowlistChange = typeof AllowlistChange.Type

/** Who follows a stream: a session or an API key, and the person behind it. */
export interface StreamPrincipal {
  readonly session_id: SessionId | null
  readonly api_key_id: ApiKeyId | null
  /** Of a key: the secret that opened the stream, with the end that it had then. */
  readonly secret: Pick<StoredSecret, "digest" | "dies_at"> | null
  /** Of a key: whoever made it. */
  readonly user_id: UserId
  /** What a key is narrowed to. */
  readonly project_id: ProjectId | null
  readonly branch_id: BranchId | null
}

/** What a stream shows, and to whom. */
export interface StreamAccess {
  readonly org_id: OrgId
  /** `null`: every project of the organization, and what belongs to none. */
  readonly project_id: ProjectId | null
  readonly principal: StreamPrincipal
}

const internal = (org_id: OrgId, project_id: ProjectId | null, type: string, data: EventData): NewEvent => ({
  org_id,
  project_id,
  type,
  source: "internal",
  internal: true,
  data
})

/** A session ended before its time. `org_id` is where it was. */
export const sessionRevoked = (org_id: OrgId, session_id: SessionId): NewEvent =>
  internal(org_id, null, revokedType, { session_id })

export const apiKeyRevoked = (org_id: OrgId, api_key_id: ApiKeyId): NewEvent =>
  internal(org_id, null, revokedType, { api_key_id })

/** A membership ended or its role went down. Concerns the member's sessions there and the keys made there. */
export const membershipRevoked = (org_id: OrgId, user_id: UserId): NewEvent =>
  internal(org_id, null, revokedType, { org_id, user_id })

/** An account was disabled. `org_id` is any organization of it: the effect is on all. */
export const userRevoked = (org_id: OrgId, user_id: UserId): NewEvent =>
  internal(org_id, null, revokedType, { user_id })

export const projectRevoked = (org_id: OrgId, project_id: ProjectId): NewEvent =>
  internal(org_id, project_id, revokedType, { project_id })

export const branchRevoked = (org_id: OrgId, project_id: ProjectId, branch_id: BranchId): NewEvent =>
  internal(org_id, project_id, revokedType, { branch_id })

export const organizationRevoked = (org_id: OrgId): NewEvent => internal(org_id, null, revokedType, { org_id })

/** An allowlist has a new version: proxies fetch it. */
export const allowlistChanged = (org_id: OrgId, change: AllowlistChange): NewEvent =>
  internal(org_id, change.project_id, allowlistChangedType, { ...change })

const decode = Schema.decodeUnknownOption(Revocation)

/** The revocation in an event; `some(none)` is one that this version cannot read. */
export const revocationOf = (event: {
  readonly internal: boolean
  readonly type: string
  readonly data: EventData
}): Option.Option<Option.Option<Revocation>> =>
  event.internal && event.type === revokedType ? Option.some(decode(event.data)) : Option.none()

/** Does a stream end by this revocation? */
export const concerns = (revocation: Revocation, { org_id, project_id, principal }: StreamAccess): boolean => {
  if ("session_id" in revocation) return principal.session_id === revocation.session_id
  if ("api_key_id" in revocation) return principal.api_key_id === revocation.api_key_id
  if ("project_id" in revocation)
    return project_id === revocation.project_id || principal.project_id === revocation.project_id
  if ("branch_id" in revocation) return principal.branch_id === revocation.branch_id
  if ("user_id" in revocation && principal.user_id !== revocation.user_id) return false
  return !("org_id" in revocation) || org_id === revocation.org_id
}

const decodeChange = Schema.decodeUnknownOption(AllowlistChange)

/** The allowlist change in an event. */
export const allowlistChangeOf = (event: {
  readonly internal: boolean
  readonly type: string
  readonly data: EventData
}): Option.Option<AllowlistChange> =>
  event.internal && event.type === allowlistChangedType ? decodeChange(event.data) : Option.none()

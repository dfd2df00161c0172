/**
 * Internal events: rows of the log that instances act on and clients never see. They take their place in the one order
 * of the log.
 *
 * A revocation is emitted by the transaction that takes a right away. Every instance applies it in order, so nothing
 * committed after it reaches the streams that it ends (docs/design/events.md E29).
 *
 * Pitfall: emitting a revocation in a transaction of its own. Events committed between the two still reach the streams.
 */
import { Option, Schema } from "effect"
import { ApiKeyId, BranchId, OrgId, ProjectId, SessionId, UserId } from "../../Ids.ts"
import type { EventData, NewEvent } from "./Envelope.ts"
import type { EventTypeOf } from "./eventCatalog.ts"

export const revokedType = "internal.revoked.v1"

/** An event that no client receives. */
export const internalEvent = (
  org_id: OrgId,
  project_id: ProjectId | null,
  type: EventTypeOf<"internal">,
  data: EventData
): NewEvent => ({ org_id, project_id, type, source: "internal", internal: true, data })

/** Selects the streams that end. The first form that fits counts: `{org_id, user_id}` is one membership, `{user_id}` the account. */
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

/** A session ended before its expiry. `org_id` is the organization that it was in. */
export const sessionRevoked = (org_id: OrgId, session_id: SessionId): NewEvent =>
  internalEvent(org_id, null, revokedType, { session_id })

export const apiKeyRevoked = (org_id: OrgId, api_key_id: ApiKeyId): NewEvent =>
  internalEvent(org_id, null, revokedType, { api_key_id })

/** A membership ended or its role was lowered. Ends the member's sessions in the organization and the keys made there. */
export const membershipRevoked = (org_id: OrgId, user_id: UserId): NewEvent =>
  internalEvent(org_id, null, revokedType, { org_id, user_id })

/** An account was disabled. `org_id` is any of its organizations: the revocation acts in all of them. */
export const userRevoked = (org_id: OrgId, user_id: UserId): NewEvent =>
  internalEvent(org_id, null, revokedType, { user_id })

export const projectRevoked = (org_id: OrgId, project_id: ProjectId): NewEvent =>
  internalEvent(org_id, project_id, revokedType, { project_id })

export const branchRevoked = (org_id: OrgId, project_id: ProjectId, branch_id: BranchId): NewEvent =>
  internalEvent(org_id, project_id, revokedType, { branch_id })

export const organizationRevoked = (org_id: OrgId): NewEvent => internalEvent(org_id, null, revokedType, { org_id })

const decode = Schema.decodeUnknownOption(Revocation)

/** The revocation in an event; `some(none)` is a revocation of a form that this version does not know. */
export const revocationOf = (event: {
  readonly internal: boolean
  readonly type: string
  readonly data: EventData
}): Option.Option<Option.Option<Revocation>> =>
  event.internal && event.type === revokedType ? Option.some(decode(event.data)) : Option.none()

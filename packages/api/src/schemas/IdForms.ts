/**
 * Parsers of ids for clients, which put an id into a path only after its parser accepted it. The server does not use
 * them: a malformed id answers like an unknown one.
 */
import {
  ApiKeyId,
  BranchId,
  EndpointId,
  InvitationId,
  OperationId,
  OrgId,
  ProjectId,
  RegionId,
  SessionId,
  UserId
} from "@narthex/core"
import { Option, Schema } from "effect"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const ulid = (prefix: string) => new RegExp(`^${prefix}-[0-7][0-9a-hjkmnp-tv-z]{25}$`)

const parser =
  <Id extends string>(schema: Schema.Codec<Id, string>, form: RegExp) =>
  (text: string): Option.Option<Id> =>
    form.test(text) ? Schema.decodeOption(schema)(text) : Option.none()

export const parseOrgId = parser(OrgId, uuid)
export const parseUserId = parser(UserId, uuid)
export const parseSessionId = parser(SessionId, uuid)
export const parseInvitationId = parser(InvitationId, uuid)
export const parseOperationId = parser(OperationId, uuid)
export const parseProjectId = parser(ProjectId, ulid("prj"))
export const parseBranchId = parser(BranchId, ulid("br"))
export const parseEndpointId = parser(EndpointId, ulid("ep"))
export const parseApiKeyId = parser(ApiKeyId, ulid("key"))
export const parseRegionId = parser(RegionId, /^[A-Za-z0-9][A-Za-z0-9_-]*$/)

/**
 * The forms of ids, and parsers of them for clients, which put an id into a path only after its parser accepted it. The
 * server does not use the parsers: a malformed id answers like an unknown one.
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
  UserId,
  WebhookId
} from "@narthex/core"
import { Option, Schema } from "effect"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const ulid = (prefix: string) => new RegExp(`^${prefix}-[0-7][0-9a-hjkmnp-tv-z]{25}$`)

/** The form of each kind of id (docs/design/api.md, Identifiers). */
export const idForms = {
  organization: uuid,
  user: uuid,
  session: uuid,
  invitation: uuid,
  operation: uuid,
  project: ulid("prj"),
  branch: ulid("br"),
  endpoint: ulid("ep"),
  api_key: ulid("key"),
  webhook: ulid("wh")
} as const

const parser =
  <Id extends string>(schema: Schema.Codec<Id, string>, form: RegExp) =>
  (text: string): Option.Option<Id> =>
    form.test(text) ? Schema.decodeOption(schema)(text) : Option.none()

export const parseOrgId = parser(OrgId, idForms.organization)
export const parseUserId = parser(UserId, idForms.user)
export const parseSessionId = parser(SessionId, idForms.session)
export const parseInvitationId = parser(InvitationId, idForms.invitation)
export const parseOperationId = parser(OperationId, idForms.operation)
export const parseProjectId = parser(ProjectId, idForms.project)
export const parseBranchId = parser(BranchId, idForms.branch)
export const parseEndpointId = parser(EndpointId, idForms.endpoint)
export const parseApiKeyId = parser(ApiKeyId, idForms.api_key)
export const parseWebhookId = parser(WebhookId, idForms.webhook)
export const parseRegionId = parser(RegionId, /^[A-Za-z0-9][A-Za-z0-9_-]*$/)

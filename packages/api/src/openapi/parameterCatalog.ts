/**
 * The meaning of each parameter of path, query and header, with an example: one row per name. A row of `operation id.name`
 * is for that call alone.
 */
import { exampleIds as ids } from "@narthex/core"

export interface ParameterEntry {
  readonly text: string
  readonly example: string | number
  /** Replaces the derived schema where it says less than the server takes. */
  readonly schema?: Readonly<Record<string, unknown>>
}

const include = "What the answer has in addition, separated by commas. Names that the server does not know are ignored"

export const parameterCatalog: Readonly<Record<string, ParameterEntry>> = {
  project_id: { text: "The id of the project.", example: ids.project },
  branch_id: { text: "The id of the branch.", example: ids.branch },
  endpoint_id: { text: "The id of the endpoint.", example: ids.endpoint },
  operation_id: { text: "The id of the operation.", example: ids.operation },
  api_key_id: { text: "The id of the API key.", example: ids.api_key },
  org_id: { text: "The id of the organization that the credential acts in.", example: ids.organization },
  user_id: { text: "The id of the member.", example: ids.user },
  webhook_id: { text: "The id of the webhook.", example: ids.webhook },
  invitation_id: { text: "The id of the invitation.", example: ids.invitation },
  session_id: { text: "The id of the session.", example: ids.session },
  role: { text: "The name of the Postgres role.", example: "ada_rw_8f3k2m" },
  cidr: {
    text: "The network, in any spelling, with the slash encoded as `%2F`. An address means its /32 or /128.",
    example: "203.0.113.0/24"
  },
  network: { text: "The address of the network.", example: "203.0.113.0" },
  prefix: { text: "The length of the prefix.", example: "24" },
  limit: {
    text: "How many items a page has at most.",
    example: 50,
    schema: { type: "integer", minimum: 1, maximum: 1000, default: 200 }
  },
  cursor: {
    text: "Where the page begins: `pagination.next_cursor` of the page before, unchanged. Left out: the first page.",
    example: "eyJpZCI6InByai0wMW04MG00Y2U4In0"
  },
  "auth.account.include": { text: `${include}: \`projects\`.`, example: "projects" },
  "projects.list.include": {
    text: `${include}: \`endpoint\`, which adds \`endpoint\` and \`last_used_at\` to each project, and \`branches\`, which adds \`branches_count\` and \`size_bytes\`.`,
    example: "endpoint,branches"
  },
  "projects.overview.include": {
    text: `${include}: \`branches\`, \`endpoints\`, \`operations\` and \`ip_allow\`.`,
    example: "branches,endpoints"
  },
  "events.history.include": { text: `${include}: \`names\`.`, example: "names" },
  "events.projectHistory.include": { text: `${include}: \`names\`.`, example: "names" },
  address: { text: "The address of a client, without port, prefix and zone.", example: "203.0.113.9" },
  wait: {
    text: "How long the call waits for a final status: whole seconds, `1s` to `60s`. Left out: it does not wait.",
    example: "30s"
  },
  status: { text: "Only operations in this status. Left out: in any.", example: "failed" },
  action: { text: "Only operations that do this. Left out: of any kind.", example: "start_compute" },
  "audit.list.action": {
    text: "Only entries of this act. One that does not exist: an empty list.",
    example: "project.created"
  },
  actor_id: {
    text: "Only acts of this person, with sessions and API keys, or of this API key.",
    example: ids.user
  },
  target_id: { text: "Only acts on this object, or on parts of it.", example: ids.project },
  outcome: {
    text: "`done`: only acts that happened. `refused`: only refused ones. Left out: both.",
    example: "refused"
  },
  from: { text: "Only acts at this instant or later.", example: "2026-11-23T00:00:00.000Z" },
  until: { text: "Only acts before this instant.", example: "2026-11-24T00:00:00.000Z" },
  "operations.list.branch_id": {
    text: "Only operations of this branch, also of one that is deleted. An id that the project does not have: an empty list.",
    example: ids.branch
  },
  "operations.list.endpoint_id": {
    text: "Only operations of this endpoint, also of one that is deleted. An id that the project does not have: an empty list.",
    example: ids.endpoint
  },
  after: {
    text: "The id of the last event that is known. Left out: from the oldest retained one on.",
    example: ids.event
  },
  order: { text: "`asc`: the oldest event first. `desc`: the newest first. Left out: `asc`.", example: "desc" },
  types: {
    text: "Only events of these types, separated by commas. Frames about the stream itself always come.",
    example: "operation.updated.v1"
  },
  bookmarks: {
    text: "`1`: the stream also sends blocks with an id alone, which move the position, and `retry:`. Browsers' `EventSource` needs it.",
    example: "1"
  },
  "last-event-id": {
    text: "The id of the last event that arrived: the stream goes on after it. Left out: it begins with the next event.",
    example: ids.event
  },
  lastEventId: {
    text: "The same as the header `Last-Event-ID`, for clients that cannot send it. The header takes precedence.",
    example: ids.event
  },
  confirm_self_lockout: {
    text: "`true` confirms a change by which the caller loses rights of their own.",
    example: "true"
  },
  hand_over_credentials: {
    text: "`true`: the caller takes over the member's database credentials. Otherwise they are revoked.",
    example: "true"
  },
  "Idempotency-Key": {
    text: "1 to 255 visible ASCII characters, chosen by the client: a repetition with the same key and the same bytes of the body gets the first answer, and has no second effect. Kept for 24 hours.",
    example: "6f1d2c9e-8a57-4f0b-9d3c-2e1a0b4c5d6f",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" }
  }
}

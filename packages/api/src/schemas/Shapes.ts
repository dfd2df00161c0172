/**
 * Records as answers hold them: the core's fields without the internal ones. Enumerations are open, because a client must
 * accept values of a newer server.
 */
import {
  AccountState,
  AddressFamily,
  ApiKey,
  BranchState,
  BranchView,
  Capability,
  ClientRefusal,
  EndpointState,
  EndpointType,
  EndpointView,
  Initiator,
  Invitation,
  InvitationStatus,
  MentionedProject,
  Names,
  Operation,
  OperationAction,
  OperationStatus,
  ProjectView,
  QuotaName,
  ReadOnlyReason,
  RefusalReason,
  RulesInForce
} from "@narthex/core"
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { nullBefore } from "./members.ts"

/** An answer with status 201. */
export const created = <S extends Schema.Top>(answer: S) => answer.pipe(HttpApiSchema.status(201))

/** An answer with status 202. */
export const accepted = <S extends Schema.Top>(answer: S) => answer.pipe(HttpApiSchema.status(202))

/** These values, or one that this version does not know yet. */
const open = <S extends Schema.Top & { readonly Type: string; readonly Encoded: string }>(known: S) =>
  Schema.Union([known, Schema.String])

export const BranchRecord = Schema.Struct({
  ...BranchView.fields,
  current_state: open(BranchState),
  pending_state: Schema.NullOr(open(BranchState)),
  size_bytes: nullBefore(Schema.Int),
  size_measured_at: nullBefore(Schema.DateTimeUtcFromString),
  read_only_reason: nullBefore(open(ReadOnlyReason))
}).annotate({ identifier: "Branch" })

export const EndpointRecord = Schema.Struct({
  ...EndpointView.fields,
  type: open(EndpointType),
  current_state: open(EndpointState),
  pending_state: Schema.NullOr(open(EndpointState)),
  suspend_timeout_seconds: Schema.Int,
  connection_template: nullBefore(Schema.String)
}).annotate({ identifier: "Endpoint" })

/** `endpoint` and `last_used_at` are there where a list includes them. */
export const ProjectRecord = Schema.Struct({
  ...ProjectView.fields,
  endpoint: Schema.optionalKey(Schema.NullOr(EndpointRecord)),
  last_used_at: Schema.optionalKey(Schema.NullOr(Schema.DateTimeUtcFromString))
}).annotate({ identifier: "Project" })

export const OperationRecord = Schema.Struct({
  ...Operation.fields,
  action: open(OperationAction),
  status: open(OperationStatus),
  initiator: Schema.Struct({ ...Initiator.fields, type: open(Initiator.fields.type) })
}).annotate({ identifier: "Operation" })

export const Operations = Schema.Array(OperationRecord)

export const ApiKeyRecord = Schema.Struct({ ...ApiKey.fields, capability: open(Capability) }).annotate({
  identifier: "ApiKey"
})

export const InvitationRecord = Schema.Struct({ ...Invitation.fields, status: open(InvitationStatus) }).annotate({
  identifier: "Invitation"
})

export const ClientRefusalRecord = Schema.Struct({ ...ClientRefusal.fields, reason: open(RefusalReason) }).annotate({
  identifier: "ClientRefusal"
})

export const AllowlistRecord = Schema.Struct({
  ...RulesInForce.fields,
  refused_family: nullBefore(open(AddressFamily))
}).annotate({ identifier: "RulesInForce" })

const MentionedProjectRecord = Schema.Struct({
  ...MentionedProject.fields,
  deleted: nullBefore(Schema.Boolean)
}).annotate({ identifier: "MentionedProject" })

/** The names of projects, branches and people that events mention. */
export const NamesRecord = Schema.Struct({
  ...Names.fields,
  projects: Schema.Array(MentionedProjectRecord)
}).annotate({ identifier: "Names" })

/** A quota of an organization: how much it holds, and how much it may have. */
export const QuotaRecord = Schema.Struct({ quota: open(QuotaName), held: Schema.Int, allowed: Schema.Int }).annotate({
  identifier: "Quota"
})

export const OpenAccountState = open(AccountState)
export const OpenCapability = open(Capability)

/** A secret in an answer; `null` when the answer is a replay. */
export const ShownSecret = Schema.NullOr(Schema.RedactedFromValue(Schema.String))

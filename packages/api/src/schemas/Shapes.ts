/**
 * Records as answers hold them: the core's fields without the internal ones. Enumerations are open, because a client must
 * accept values of a newer server.
 */
import {
  AccountState,
  AddressFamily,
  ApiKey,
  AuditActor,
  AuditEntry,
  AuditOutcome,
  exampleTimes as at,
  BranchState,
  BranchView,
  Capability,
  ClientRefusal,
  EndpointSize,
  EndpointState,
  EndpointType,
  EndpointView,
  Initiator,
  Invitation,
  InvitationStatus,
  exampleIds as ids,
  MentionedProject,
  means,
  Names,
  Operation,
  OperationAction,
  OperationStatus,
  ProjectView,
  QuotaName,
  ReadOnlyReason,
  RefusalReason,
  RulesInForce,
  Webhook,
  WebhookDelivery
} from "@narthex/core"
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { nullBefore } from "./members.ts"

/** An answer with status 201. */
export const created = <S extends Schema.Top>(answer: S) => answer.pipe(HttpApiSchema.status(201))

/** An answer with status 202. */
export const accepted = <S extends Schema.Top>(answer: S) => answer.pipe(HttpApiSchema.status(202))

/** The known values, or a text that only a newer version knows. */
const open = <S extends Schema.Top & { readonly Type: string; readonly Encoded: string }>(known: S) =>
  Schema.Union([known, Schema.String])

export const BranchRecord = Schema.Struct({
  ...BranchView.fields,
  current_state: open(BranchState).annotateKey(
    means(
      "The present state. `init`: it is being made. `ready`: it can be used. `resetting`: it is replaced by its parent's data. `archived`: it is not available.",
      "ready"
    )
  ),
  pending_state: Schema.NullOr(open(BranchState)),
  size_bytes: nullBefore(Schema.Int).annotateKey(
    means(
      "How much disk the data of the branch takes, in bytes, as it was measured last; `null`: it has not been measured, or is being made or replaced.",
      33_554_432
    )
  ),
  size_measured_at: nullBefore(Schema.DateTimeUtcFromString).annotateKey(
    means("When it was measured; `null`: not yet.", at.updated)
  ),
  read_only_reason: nullBefore(open(ReadOnlyReason)).annotateKey(
    means(
      "Why all credentials of the branch only read now, also those with the access `read_write`. `disk_quota`: its organization holds more disk than its quota. `null`: they do what they were made for.",
      null
    )
  )
}).annotate({ identifier: "Branch" })

export const EndpointRecord = Schema.Struct({
  ...EndpointView.fields,
  type: open(EndpointType).annotateKey(
    means("`read_write`, of which a branch has at most one, or `read_only`.", "read_write")
  ),
  current_state: open(EndpointState).annotateKey(
    means(
      "The present state. `init`: it is being made. `active`: its compute runs. `idle`: its compute is suspended, and a connection wakes it.",
      "active"
    )
  ),
  pending_state: Schema.NullOr(open(EndpointState)),
  suspend_timeout_seconds: Schema.Int,
  size: nullBefore(EndpointSize).annotateKey(
    means("The CPU, memory and disk that its compute may take; `null`: no limits.", {
      name: "small",
      cpus: 0.5,
      memory_bytes: 1_073_741_824,
      disk_bytes: 21_474_836_480
    })
  ),
  connection_template: nullBefore(Schema.String).annotateKey(
    means(
      "A connection string with `{role}` and `{password}` in place of a credential, with what this platform needs.",
      `postgresql://{role}:{password}@${ids.endpoint}.eu-central.narthex.example:5432/postgres?sslmode=require`
    )
  )
}).annotate({ identifier: "Endpoint" })

/** The optional members are there where a list includes them. */
export const ProjectRecord = Schema.Struct({
  ...ProjectView.fields,
  endpoint: Schema.optionalKey(Schema.NullOr(EndpointRecord)).annotateKey(
    means(
      "With `include=endpoint`: the endpoint whose state is the project's. It is the read-write one of the default branch, else the newest there, else the newest of all; `null`: there is none.",
      undefined
    )
  ),
  last_used_at: Schema.optionalKey(Schema.NullOr(Schema.DateTimeUtcFromString)).annotateKey(
    means(
      "With `include=endpoint`: when one of the newest 100 endpoints was last active, started or suspended; `null`: none has run.",
      undefined
    )
  ),
  branches_count: Schema.optionalKey(Schema.Int).annotateKey(
    means("With `include=branches`: how many branches there are; 100 of them at most are counted.", undefined)
  ),
  size_bytes: Schema.optionalKey(Schema.NullOr(Schema.Int)).annotateKey(
    means(
      "With `include=branches`: the sum of the measured sizes of the newest 100 branches; `null`: none is measured.",
      undefined
    )
  )
}).annotate({ identifier: "Project" })

export const OperationRecord = Schema.Struct({
  ...Operation.fields,
  action: open(OperationAction).annotateKey(means("The kind of work.", "start_compute")),
  status: open(OperationStatus).annotateKey(
    means(
      "`scheduling`, then `running`, then one of the final ones: `finished`, `failed`, `error`, `cancelled` or `skipped`. `cancelling` on the way to `cancelled`.",
      "running"
    )
  ),
  initiator: Schema.Struct({
    ...Initiator.fields,
    type: open(Initiator.fields.type).annotateKey(
      means("A person's session, an API key, a proxy on behalf of a connection, or the platform itself.", "user")
    )
  }).annotateKey(means("The person, key or part of the platform that asked for it."))
}).annotate({ identifier: "Operation" })

export const Operations = Schema.Array(OperationRecord)

export const ApiKeyRecord = Schema.Struct({ ...ApiKey.fields, capability: open(Capability) }).annotate({
  identifier: "ApiKey"
})

export const AuditEntryRecord = Schema.Struct({
  ...AuditEntry.fields,
  outcome: open(AuditOutcome).annotateKey(means("`done`, or `refused` with 403.", "done")),
  actor: Schema.Struct({
    ...AuditActor.fields,
    type: open(AuditActor.fields.type).annotateKey(
      means(
        "`user`, `api_key`, `operator` (a command of the server), or `anonymous` (a report of a leaked secret).",
        "user"
      )
    )
  })
    .annotate({ identifier: "AuditActor" })
    .annotateKey(means("The person, API key or operator that acted."))
}).annotate({ identifier: "AuditEntry" })

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
  deleted: nullBefore(Schema.Boolean).annotateKey(means("Whether the project is deleted.", false))
}).annotate({ identifier: "MentionedProject" })

/** The names of projects, branches and people that events mention. */
export const NamesRecord = Schema.Struct({
  ...Names.fields,
  projects: Schema.Array(MentionedProjectRecord)
}).annotate({ identifier: "Names" })

export const WebhookRecord = Schema.Struct({
  ...Webhook.fields,
  status: Schema.String.annotateKey(
    means("`active`, or `paused`: nothing is delivered until it is replayed.", "active")
  ),
  paused_reason: Schema.NullOr(Schema.String).annotateKey(
    means(
      "`failing`: the last retry has failed. `gone`: the receiver has answered 410. `null`: the webhook is active.",
      null
    )
  )
}).annotate({ identifier: "Webhook" })

export const WebhookDeliveryRecord = Schema.Struct({
  ...WebhookDelivery.fields,
  outcome: Schema.String.annotateKey(means("`delivered`, or `failed`.", "delivered"))
}).annotate({ identifier: "WebhookDelivery" })

/** A quota of an organization: how much it holds, and how much it may have. */
export const QuotaRecord = Schema.Struct({ quota: open(QuotaName), held: Schema.Int, allowed: Schema.Int }).annotate({
  identifier: "Quota"
})

export const OpenAccountState = open(AccountState)
export const OpenCapability = open(Capability)

/** A secret in an answer; `null` when the answer is a replay. */
export const ShownSecret = Schema.NullOr(Schema.RedactedFromValue(Schema.String))

/** An entry of the audit log: one act, by whom, on what and from where (docs/design/audit.md U3). It never changes. */
import { Schema } from "effect"
import { OrgId } from "../../Ids.ts"
import { exampleIds as ids, means, exampleTimes as times } from "../../means.ts"
import { UserRef } from "../accounts/UserRef.ts"

const text = Schema.NullOr(Schema.String)

export const AuditOutcome = Schema.Literals(["done", "refused"])
export type AuditOutcome = typeof AuditOutcome.Type

/** The person, API key or operator that acted. */
export class AuditActor extends Schema.Class<AuditActor>("AuditActor")({
  type: Schema.Literals(["user", "api_key", "operator", "anonymous"]),
  id: text.annotateKey(means("The id of the person or of the API key; `null`: neither.", ids.user)),
  name: text.annotateKey(
    means("The address or name of the person, or the name of the API key; `null`: none.", "ada@example.com")
  ),
  user: Schema.NullOr(UserRef).annotateKey(means("The person who acted, or as whom the API key acts; `null`: none."))
}) {}

/** An object of the act, or one that it is part of. */
export class AuditTarget extends Schema.Class<AuditTarget>("AuditTarget")({
  type: Schema.String.annotateKey(means("The kind of the object, such as `project` or `member`.", "project")),
  id: Schema.String.annotateKey(
    means("The id of the object; of a network its CIDR, of a credential its role.", ids.project)
  ),
  name: text.annotateKey(means("The name at the time of the act; `null`: it has none, or it is not known.", "checkout"))
}) {}

/** Where an act came from. */
export class AuditContext extends Schema.Class<AuditContext>("AuditContext")({
  location: text.annotateKey(means("The address of the client; `null`: not known.", "198.51.100.17")),
  user_agent: text.annotateKey(means("The name that the client gave itself; `null`: none.", "narthex-cli/1.0.0")),
  request_id: text.annotateKey(means("The id of the request; `null`: there was none.", "req-7f3a9c"))
}) {}

export class AuditEntry extends Schema.Class<AuditEntry>("AuditEntry")({
  id: Schema.String.annotateKey(means("The id of the entry.", "01980f43-4a00-7f32-9c7d-5e6f7a8b9c0d")),
  org_id: Schema.NullOr(OrgId).annotateKey(
    means("The organization that the entry belongs to; `null`: an act of the operator for all.", ids.organization)
  ),
  occurred_at: Schema.DateTimeUtcFromString.annotateKey(means("When the act happened.", times.created)),
  action: Schema.String.annotateKey(
    means("The name of the act. Clients accept names that they do not know.", "project.created")
  ),
  outcome: AuditOutcome,
  actor: AuditActor,
  targets: Schema.Array(AuditTarget).annotateKey(means("The object of the act first, then what it is part of.")),
  context: AuditContext.annotateKey(means("Where the act came from.")),
  metadata: Schema.Record(Schema.String, Schema.String).annotateKey(
    means("More facts about the act, such as the role that was granted.", {})
  ),
  version: Schema.Int.annotateKey(means("The version of the entry's form.", 1))
}) {}

/** The version of the form that this program writes. */
export const auditVersion = 1

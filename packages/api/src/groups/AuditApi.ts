/** The endpoint of the audit log (docs/design/audit.md U10 to U13). */
import { AuditOutcome, OrgId, reads } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { AuditEntryRecord } from "../schemas/Shapes.ts"

const instant = Schema.optionalKey(Schema.DateTimeUtcFromString)

/** Only entries that fit all of these. */
export const auditFilter = {
  action: Schema.optionalKey(Schema.String),
  actor_id: Schema.optionalKey(Schema.String),
  target_id: Schema.optionalKey(Schema.String),
  outcome: Schema.optionalKey(AuditOutcome),
  from: instant,
  until: instant
}

export class AuditApi extends HttpApiGroup.make("audit")
  .add(
    HttpApiEndpoint.get("list", "/v1/orgs/:org_id/audit", {
      params: { org_id: OrgId },
      query: { ...pageQuery, ...auditFilter },
      success: Schema.Struct({ entries: Schema.Array(AuditEntryRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(
        { ...reads("organization", "organization"), permission: "read_audit", agent: "never" },
        {
          summary: "List the audit log",
          text: "Acts of people, API keys and the operator in the organization, and refused attempts at sensitive ones, newest first. Filters are combined: an entry fits all that are given. With `Accept: text/csv` or `application/x-ndjson` the page is a file, and `Link` leads to the next one. An entry appears when its act commits, up to half a minute after `occurred_at`: an export that polls reads the last minute again.",
          answer: "A page of entries.",
          alsoAs: ["text/csv", "application/x-ndjson"]
        }
      )
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Audit log",
      description: "Acts of people, API keys and the operator, for owners and admins."
    })
  ) {}

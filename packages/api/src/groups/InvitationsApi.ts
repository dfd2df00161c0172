/** The endpoints of invitations into an organization. No mail is sent; `OwnInvitationsApi` accepts them. */
import { changes, InvitationId, normalizeEmail, OrgId } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConflictProblem, QuotaExceededProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { optionalNullable, trimmed } from "../schemas/members.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { created, InvitationRecord } from "../schemas/Shapes.ts"
import { GrantedRole } from "./OrganizationsApi.ts"

export const Invite = Schema.Struct({
  email: trimmed(1, 320).check(
    Schema.makeFilter((text) => normalizeEmail(text) !== undefined || "Expected an email address")
  ),
  role: optionalNullable(GrantedRole)
})
export type Invite = typeof Invite.Type

const organization = { org_id: OrgId }
const invitation = { ...organization, invitation_id: InvitationId }
const wrapped = Schema.Struct({ invitation: InvitationRecord })
const manages = changes("admin", "manage_invitations", "organization", { reach: "organization" })

export class InvitationsApi extends HttpApiGroup.make("invitations")
  .add(
    HttpApiEndpoint.get("list", "/v1/orgs/:org_id/invitations", {
      params: organization,
      query: pageQuery,
      success: Schema.Struct({ invitations: Schema.Array(InvitationRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(manages, {
        summary: "List invitations",
        text: "The invitations of the organization.",
        answer: "A page of invitations."
      })
    ),
    HttpApiEndpoint.post("invite", "/v1/orgs/:org_id/invitations", {
      params: organization,
      payload: Invite,
      success: created(wrapped),
      error: [ConflictProblem, QuotaExceededProblem]
    }).annotateMerge(
      endpointRules(manages, {
        summary: "Invite an email address for seven days",
        act: "invitation.created",
        text: "No mail is sent: the person signs in with the address, and accepts.",
        answer: "The invitation.",
        strictBody: true,
        limitedBy: "invitation_creation"
      })
    ),
    HttpApiEndpoint.post("resend", "/v1/orgs/:org_id/invitations/:invitation_id/resend", {
      params: invitation,
      success: wrapped,
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(manages, {
        summary: "Renew an invitation for seven days",
        act: "invitation.resent",
        text: "The seven days begin again.",
        answer: "The invitation.",
        limitedBy: "invitation_creation"
      })
    ),
    HttpApiEndpoint.delete("revoke", "/v1/orgs/:org_id/invitations/:invitation_id", {
      params: invitation,
      success: HttpApiSchema.NoContent,
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(manages, {
        summary: "Revoke an invitation",
        act: "invitation.revoked",
        text: "Only a pending one can be revoked.",
        answer: "The invitation is revoked."
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Invitations", description: "People who may join the organization." })) {}

/** The endpoints of a person's own invitations: what is pending for the caller's verified address. */
import { type CredentialPolicy, InvitationId, OrganizationView, OwnInvitation, self } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConflictProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"

/**
 * Invitations are the person's, not the organization's, so no role is needed. A `read_write` key of an organization
 * passes, because the command line acts through one (docs/design/authorization.md Z44).
 */
const own: CredentialPolicy = { ...self, effect: "admin", reach: "organization", agent: "never" }
const invitation = { invitation_id: InvitationId }

export const OwnInvitationRecord = Schema.Struct(OwnInvitation.fields).annotate({ identifier: "OwnInvitation" })

export class OwnInvitationsApi extends HttpApiGroup.make("ownInvitations")
  .add(
    HttpApiEndpoint.get("list", "/v1/invitations", {
      query: pageQuery,
      success: Schema.Struct({ invitations: Schema.Array(OwnInvitationRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(own, {
        summary: "List the caller's pending invitations",
        text: "Those for the caller's verified address, of every organization.",
        answer: "A page of invitations."
      })
    ),
    HttpApiEndpoint.post("accept", "/v1/invitations/:invitation_id/accept", {
      params: invitation,
      success: Schema.Struct({ organization: OrganizationView }),
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(own, {
        summary: "Accept an invitation",
        act: "invitation.accepted",
        text: "The caller becomes a member. The session stays in its organization; switch it with `POST /v1/auth/switch-org`.",
        answer: "The organization, with the caller's role.",
        limitedBy: "invitation_creation"
      })
    ),
    HttpApiEndpoint.post("decline", "/v1/invitations/:invitation_id/decline", {
      params: invitation,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(own, {
        summary: "Decline an invitation",
        act: "invitation.declined",
        text: "The organization may invite again.",
        answer: "The invitation is declined.",
        ends: true
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({ title: "Own invitations", description: "Organizations that invite the caller." })
  ) {}

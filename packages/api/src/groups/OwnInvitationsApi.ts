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
 * Invitations are the person's, not the organization's, so no role is needed. Of keys, `read_write` ones of an
 * organization pass: the command line acts through one (docs/design/authorization.md Z44).
 */
const own: CredentialPolicy = { ...self, effect: "admin", reach: "organization", agent: "never" }
const invitation = { invitation_id: InvitationId }

export const OwnInvitationRecord = Schema.Struct(OwnInvitation.fields).annotate({ identifier: "OwnInvitation" })

export class OwnInvitationsApi extends HttpApiGroup.make("ownInvitations")
  .add(
    HttpApiEndpoint.get("list", "/v1/invitations", {
      query: pageQuery,
      success: Schema.Struct({ invitations: Schema.Array(OwnInvitationRecord), pagination: Pagination })
    }).annotateMerge(endpointRules(own, "List the caller's pending invitations")),
    HttpApiEndpoint.post("accept", "/v1/invitations/:invitation_id/accept", {
      params: invitation,
      success: Schema.Struct({ organization: OrganizationView }),
      error: ConflictProblem
    }).annotateMerge(endpointRules(own, "Accept an invitation", { limitedBy: "invitation_creation" })),
    HttpApiEndpoint.post("decline", "/v1/invitations/:invitation_id/decline", {
      params: invitation,
      success: HttpApiSchema.NoContent
    }).annotateMerge(endpointRules(own, "Decline an invitation", { ends: true }))
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({ title: "Own invitations", description: "Organizations that invite the caller." })
  ) {}

/**
 * The endpoints of organizations and their members. A path serves the organization of the credential; any other is 404.
 *
 * The policies hold what every call needs. Rules that depend on the member and on the roles are the service's.
 */
import { changes, Member, OrganizationView, OrgId, reads, roleName, session, UserId } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConflictProblem, QuotaExceededProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { Name } from "../schemas/members.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { ApiKeyRecord, created, QuotaRecord } from "../schemas/Shapes.ts"
import { CredentialRecord } from "./BranchesApi.ts"

/**
 * The name of a role that can be granted: a built-in one, or one that a host declares (docs/design/authorization.md Z46).
 * The service checks that the role exists.
 */
export const GrantedRole = Schema.String.check(Schema.isPattern(roleName))

/** Confirms a change by which the caller loses rights. */
const confirmation = { confirm_self_lockout: Schema.optionalKey(Schema.String) }

/** The query of a removal. Another value of `hand_over_credentials` than these is refused. */
const removal = { ...confirmation, hand_over_credentials: Schema.optionalKey(Schema.Literals(["true", "false"])) }

/** Whether the query confirms that the caller may lose rights. */
export const confirmsLockout = (query: { readonly confirm_self_lockout?: string }): boolean =>
  query.confirm_self_lockout === "true"

const organization = { org_id: OrgId }
const member = { ...organization, user_id: UserId }
const wrapped = Schema.Struct({ organization: OrganizationView })
const payload = Schema.Struct({ name: Name })

const manages = (
  permission: "rename_organization" | "manage_members" | "delete_organization" | "leave",
  target: "organization" | "member" = "organization"
) => changes("admin", permission, target, { reach: "organization" })

export class OrganizationsApi extends HttpApiGroup.make("orgs")
  .add(
    HttpApiEndpoint.get("list", "/v1/orgs", {
      query: pageQuery,
      success: Schema.Struct({ organizations: Schema.Array(OrganizationView), pagination: Pagination })
    }).annotateMerge(
      endpointRules(reads("none", "organization"), {
        summary: "List the caller's organizations",
        text: "A key sees the organization that it acts in.",
        answer: "A page of organizations."
      })
    ),
    HttpApiEndpoint.post("create", "/v1/orgs", {
      payload,
      success: created(wrapped),
      error: QuotaExceededProblem
    }).annotateMerge(
      endpointRules(session({ ex_member: true }), {
        summary: "Create a team organization",
        act: "organization.created",
        text: "The caller becomes its owner. To act in it, switch the session with `POST /v1/auth/switch-org`.",
        answer: "The organization.",
        locatedAt: "/v1/orgs/{organization.id}",
        limitedBy: "organization_creation"
      })
    ),
    HttpApiEndpoint.get("get", "/v1/orgs/:org_id", { params: organization, success: wrapped }).annotateMerge(
      endpointRules(reads("organization", "organization"), {
        summary: "Read the organization",
        text: "The organization that the credential acts in; any other is 404.",
        answer: "The organization."
      })
    ),
    HttpApiEndpoint.patch("rename", "/v1/orgs/:org_id", {
      params: organization,
      payload,
      success: wrapped
    }).annotateMerge(
      endpointRules(manages("rename_organization"), {
        summary: "Rename the organization",
        act: "organization.renamed",
        text: "The name need not be unique.",
        answer: "The organization.",
        strictBody: true
      })
    ),
    HttpApiEndpoint.delete("delete", "/v1/orgs/:org_id", {
      params: organization,
      success: HttpApiSchema.NoContent,
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(manages("delete_organization"), {
        summary: "Delete the organization",
        act: "organization.deleted",
        text: "Only owners may do it, and only without projects in it. Its API keys and invitations are revoked. A personal organization cannot be deleted.",
        answer: "The organization is deleted."
      })
    ),
    HttpApiEndpoint.get("usage", "/v1/orgs/:org_id/usage", {
      params: organization,
      success: Schema.Struct({ usage: Schema.Array(QuotaRecord) })
    }).annotateMerge(
      endpointRules(reads("organization", "organization"), {
        summary: "Show what the organization holds of its quotas",
        text: "Every quota of the organization.",
        answer: "The quotas."
      })
    ),
    HttpApiEndpoint.get("members", "/v1/orgs/:org_id/members", {
      params: organization,
      query: pageQuery,
      success: Schema.Struct({ members: Schema.Array(Member), pagination: Pagination })
    }).annotateMerge(
      endpointRules(reads("organization", "organization"), {
        summary: "List the members",
        text: "The members of the organization and their roles.",
        answer: "A page of members."
      })
    ),
    HttpApiEndpoint.patch("changeMember", "/v1/orgs/:org_id/members/:user_id", {
      params: member,
      query: confirmation,
      payload: Schema.Struct({ role: GrantedRole }),
      success: Schema.Struct({ member: Member }),
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(manages("manage_members", "member"), {
        summary: "Change a member's role",
        act: "member.role_changed",
        text: "No one grants a role above their own. The last owner cannot be demoted.",
        answer: "The member.",
        strictBody: true,
        ends: true
      })
    ),
    HttpApiEndpoint.get("holdings", "/v1/orgs/:org_id/members/:user_id/holdings", {
      params: member,
      success: Schema.Struct({
        holdings: Schema.Struct({
          api_keys: Schema.Array(ApiKeyRecord),
          api_keys_count: Schema.Int,
          credentials: Schema.Array(CredentialRecord),
          credentials_count: Schema.Int
        })
      })
    }).annotateMerge(
      endpointRules(manages("leave", "member"), {
        summary: "Show the keys and credentials that end with the membership",
        text: "What a removal would end: read it before.",
        answer: "The API keys and credentials."
      })
    ),
    HttpApiEndpoint.delete("removeMember", "/v1/orgs/:org_id/members/:user_id", {
      params: member,
      query: removal,
      success: HttpApiSchema.NoContent,
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(manages("leave", "member"), {
        summary: "Remove a member, or leave",
        act: "member.removed",
        text: "Ends the person's API keys, and their database credentials unless they are handed over. Members may remove themselves; the last owner may not.",
        answer: "The membership has ended."
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Organizations", description: "Organizations and members." })) {}

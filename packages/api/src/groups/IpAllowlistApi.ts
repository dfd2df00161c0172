/**
 * The endpoints of a project's IP allowlist.
 *
 * `removeSplit` takes a network whose slash is not encoded and so makes two path segments.
 *
 * Pitfall: a router with `ignoreTrailingSlash`. `DELETE …/ip-allow/` must stay `remove` with an empty network, which is
 * 404; it would become a reset.
 */
import { changes, IpRule, ProjectId, reads } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConflictProblem, MalformedCidrProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { Label, optionalNullable, Pasted, TtlSeconds } from "../schemas/members.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { AllowlistRecord, ClientRefusalRecord, created } from "../schemas/Shapes.ts"

export const AddIpRule = Schema.Struct({
  cidr: Schema.String,
  label: optionalNullable(Label),
  ttl_seconds: optionalNullable(TtlSeconds)
})
export type AddIpRule = typeof AddIpRule.Type

/** A rule that replaced another: 200. A new rule is 201. */
export class ReplacedIpRule extends IpRule.extend<ReplacedIpRule>("ReplacedIpRule")({}) {}

export const AddressChecked = Schema.Struct({ allowed: Schema.Boolean, matched: Schema.NullOr(Schema.String) })

/** A query on a reset means that the client intended to remove one rule, so it is refused. */
const NoQuery = Schema.Record(Schema.String, Schema.String).check(
  Schema.makeFilter(
    (query) => Object.keys(query).length === 0 || "Expected no query; to remove one network, put it into the path"
  )
)

const params = { project_id: ProjectId }
const listPath = "/v1/projects/:project_id/ip-allow"
const change = changes("write", "change_projects", "project")

export class IpAllowlistApi extends HttpApiGroup.make("ipAllow")
  .add(
    HttpApiEndpoint.get("list", listPath, { params, success: AllowlistRecord }).annotateMerge(
      endpointRules(reads("project", "project"), "List the rules in force")
    ),
    HttpApiEndpoint.post("add", listPath, {
      params,
      payload: AddIpRule,
      success: [ReplacedIpRule, created(IpRule)],
      error: [MalformedCidrProblem, ConflictProblem]
    }).annotateMerge(endpointRules(change, "Add a network", { strictBody: true, limitedBy: "creation" })),
    HttpApiEndpoint.get("check", `${listPath}/check`, {
      params,
      query: { address: Pasted },
      success: AddressChecked
    }).annotateMerge(endpointRules(reads("project", "project"), "Check whether an address may connect")),
    HttpApiEndpoint.get("refusals", `${listPath}/refusals`, {
      params,
      query: pageQuery,
      success: Schema.Struct({ refusals: Schema.Array(ClientRefusalRecord), pagination: Pagination })
    }).annotateMerge(endpointRules(reads("project", "project"), "List the last clients that were refused")),
    HttpApiEndpoint.delete("remove", `${listPath}/:cidr`, {
      params: { ...params, cidr: Schema.NonEmptyString },
      success: HttpApiSchema.NoContent,
      error: MalformedCidrProblem
    }).annotateMerge(endpointRules(change, "Remove a network")),
    HttpApiEndpoint.delete("removeSplit", `${listPath}/:network/:prefix`, {
      params: { ...params, network: Schema.NonEmptyString, prefix: Schema.NonEmptyString },
      success: HttpApiSchema.NoContent,
      error: MalformedCidrProblem
    }).annotateMerge(endpointRules(change, "Remove a network whose slash is not encoded")),
    HttpApiEndpoint.delete("reset", listPath, {
      params,
      query: NoQuery,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(change, "Remove every network, which opens the project to all addresses", { ends: false })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "IP allowlist", description: "Networks that may reach a project." })) {}

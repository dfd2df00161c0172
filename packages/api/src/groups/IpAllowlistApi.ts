/**
 * The networks that may reach a project, as data.
 *
 * Pitfall: a router with `ignoreTrailingSlash`. `DELETE …/ip-allow/` has to stay `remove` with an empty text, which is
 * 404, and must never become a reset. A raw slash makes two segments of a network: `removeSplit`.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { changes, IpRule, ProjectId, RulesInForce, reads } from "@narthex/core"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { Label, optionalNullable, TtlSeconds } from "../schemas/members.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { ConflictProblem, MalformedCidrProblem } from "../problems/Problems.ts"
import { created } from "../schemas/Shapes.ts"

export const AddIpRule = Schema.Struct({
  cidr: Schema.String,
  label: optionalNullable(Label),
  ttl_seconds: optionalNullable(TtlSeconds)
})
export type AddIpRule = typeof AddIpRule.Type

/** A rule that took the place of another: 200, where a new one is 201. */
export class ReplacedIpRule extends IpRule.extend<ReplacedIpRule>("ReplacedIpRule")({}) {}

export const AddressChecked = Schema.Struct({ allowed: Schema.Boolean, matched: Schema.NullOr(Schema.String) })

/** Whoever sends one with a reset meant a single rule. */
const NoQuery = Schema.Record(Schema.String, Schema.String).check(
  Schema.makeFilter(
    (query) => Object.keys(query).length === 0 || "Expected no query; to unlist one network, put it into the path"
  )
)

const params = { project_id: ProjectId }
const listPath = "/v1/projects/:project_id/ip-allow"
const change = changes("write", "change_projects", "project")

export class IpAllowlistApi extends HttpApiGroup.make("ipAllow")
  .add(
    HttpApiEndpoint.get("list", listPath, { params, success: RulesInForce }).annotateMerge(
      endpointRules(reads("project", "project"), "List the rules in force")
    ),
    HttpApiEndpoint.post("add", listPath, {
      params,
      payload: AddIpRule,
      success: [ReplacedIpRule, created(IpRule)],
      error: [MalformedCidrProblem, ConflictProblem]
    }).annotateMerge(endpointRules(change, "List a network", { strictBody: true })),
    HttpApiEndpoint.get("check", `${listPath}/check`, {
      params,
      query: { address: Schema.String },
      success: AddressChecked
    }).annotateMerge(endpointRules(reads("project", "project"), "Would this address be let in?")),
    HttpApiEndpoint.delete("remove", `${listPath}/:cidr`, {
      params: { ...params, cidr: Schema.NonEmptyString },
      success: HttpApiSchema.NoContent,
      error: MalformedCidrProblem
    }).annotateMerge(endpointRules(change, "Unlist a network")),
    HttpApiEndpoint.delete("removeSplit", `${listPath}/:network/:prefix`, {
      params: { ...params, network: Schema.NonEmptyString, prefix: Schema.NonEmptyString },
      success: HttpApiSchema.NoContent,
      error: MalformedCidrProblem
    }).annotateMerge(endpointRules(change, "Unlist a network whose slash is not encoded")),
    HttpApiEndpoint.delete("reset", listPath, {
      params,
      query: NoQuery,
      success: HttpApiSchema.NoContent
    }).annotateMerge(endpointRules(change, "Unlist every network, which opens the project"))
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "IP allowlist", description: "Networks that may reach a project." })) {}

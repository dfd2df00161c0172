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
      endpointRules(reads("project", "project"), {
        summary: "List the rules in force",
        text: "All rules; the list has no pages.",
        answer: "The rules."
      })
    ),
    HttpApiEndpoint.post("add", listPath, {
      params,
      payload: AddIpRule,
      success: [ReplacedIpRule, created(IpRule)],
      error: [MalformedCidrProblem, ConflictProblem]
    }).annotateMerge(
      endpointRules(change, {
        summary: "Add a network",
        act: "ip_rule.added",
        text: "With the first rule, only the listed networks may connect to the project's endpoints. Open connections from elsewhere are ended. Proxies know of it within a second or so, and within 30 seconds at the latest.",
        answer: { 200: "The network was listed already: its label and expiry are replaced.", 201: "The new rule." },
        strictBody: true,
        limitedBy: "creation"
      })
    ),
    HttpApiEndpoint.get("check", `${listPath}/check`, {
      params,
      query: { address: Pasted },
      success: AddressChecked
    }).annotateMerge(
      endpointRules(reads("project", "project"), {
        summary: "Check whether an address may connect",
        text: "What a proxy would decide by the rules that are in force now.",
        answer: "Whether the address may connect, and by which rule."
      })
    ),
    HttpApiEndpoint.get("refusals", `${listPath}/refusals`, {
      params,
      query: pageQuery,
      success: Schema.Struct({ refusals: Schema.Array(ClientRefusalRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(reads("project", "project"), {
        summary: "List the last clients that were refused",
        text: "One entry for each address and endpoint, newest first: at most 100 of a project, for 7 days after the last refusal. They are the reports of proxies, some seconds late; a refusal that repeats moves to the front.",
        answer: "A page of refused clients."
      })
    ),
    HttpApiEndpoint.delete("remove", `${listPath}/:cidr`, {
      params: { ...params, cidr: Schema.NonEmptyString },
      success: HttpApiSchema.NoContent,
      error: MalformedCidrProblem
    }).annotateMerge(
      endpointRules(change, {
        summary: "Remove a network",
        act: "ip_rule.removed",
        text: "Connections that the remaining rules do not admit are ended. Without the last rule, every address may connect.",
        answer: "The network is removed."
      })
    ),
    HttpApiEndpoint.delete("removeSplit", `${listPath}/:network/:prefix`, {
      params: { ...params, network: Schema.NonEmptyString, prefix: Schema.NonEmptyString },
      success: HttpApiSchema.NoContent,
      error: MalformedCidrProblem
    }).annotateMerge(
      endpointRules(change, {
        summary: "Remove a network whose slash is not encoded",
        act: "ip_rule.removed",
        text: "The same for clients that do not encode the slash of the network.",
        answer: "The network is removed."
      })
    ),
    HttpApiEndpoint.delete("reset", listPath, {
      params,
      query: NoQuery,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(change, {
        summary: "Remove every network, which opens the project to all addresses",
        act: "ip_allowlist.reset",
        text: "Every address may connect from now on. With any query it is refused, because the caller probably meant to remove one network.",
        answer: "The list is empty.",
        ends: false
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "IP allowlist", description: "Networks that may reach a project." })) {}

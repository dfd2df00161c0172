/**
 * The endpoints of a project's Postgres endpoints. The branch of a new one is in the body, so the service refuses an agent
 * key that names a main branch (docs/design/authorization.md, row 22b).
 */
import {
  changes,
  EndpointId,
  EndpointType,
  endpointsByAgents,
  exampleIds as ids,
  means,
  OfferedSize,
  ProjectId,
  reads,
  SuspendTimeout
} from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ConflictProblem, QuotaExceededProblem, ResourceBusyProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { AnyBranchId, optionalNullable, Pasted } from "../schemas/members.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { accepted, created, EndpointRecord, Operations } from "../schemas/Shapes.ts"
import { deletionStarted } from "../schemas/texts.ts"

export const CreateEndpoint = Schema.Struct({
  branch_id: AnyBranchId.annotateKey(means("The branch that the endpoint serves.", ids.branch)),
  type: optionalNullable(EndpointType).annotateKey(
    means("The type of the endpoint. Left out: `read_only`.", "read_only")
  ),
  suspend_timeout_seconds: optionalNullable(SuspendTimeout),
  size: optionalNullable(Pasted).annotateKey(
    means("The name of a size. Left out: the default of the platform.", "small")
  )
})
export type CreateEndpoint = typeof CreateEndpoint.Type

export const ChangeEndpoint = Schema.Struct({
  disabled: optionalNullable(Schema.Boolean).annotateKey(
    means("Whether connections are refused. Disabling ends the ones that are open.", true)
  ),
  suspend_timeout_seconds: optionalNullable(SuspendTimeout),
  size: optionalNullable(Pasted).annotateKey(
    means("The name of another size. A running compute is started again with it, which ends its connections.", "large")
  )
})
export type ChangeEndpoint = typeof ChangeEndpoint.Type

const project = { project_id: ProjectId }
const params = { ...project, endpoint_id: EndpointId }
const worked = Schema.Struct({ endpoint: EndpointRecord, operations: Operations })
const endpointsPath = "/v1/projects/:project_id/endpoints"

export class EndpointsApi extends HttpApiGroup.make("endpoints")
  .add(
    HttpApiEndpoint.get("sizes", "/v1/sizes", {
      success: Schema.Struct({
        sizes: Schema.Array(OfferedSize).annotateKey(
          means("The sizes, in the operator's order; none: computes have no limits.")
        )
      })
    }).annotateMerge(
      endpointRules(reads("none", "branch"), {
        summary: "List the sizes of endpoints",
        text: "What the compute of an endpoint may take of a machine, by the names that endpoints are given.",
        answer: "The sizes."
      })
    ),
    HttpApiEndpoint.get("list", endpointsPath, {
      params: project,
      query: pageQuery,
      success: Schema.Struct({ endpoints: Schema.Array(EndpointRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(reads("project", "branch"), {
        summary: "List endpoints",
        text: "The endpoints of the project.",
        answer: "A page of endpoints."
      })
    ),
    HttpApiEndpoint.post("create", endpointsPath, {
      params: project,
      payload: CreateEndpoint,
      success: created(worked),
      error: [ConflictProblem, QuotaExceededProblem, ResourceBusyProblem]
    }).annotateMerge(
      endpointRules(
        changes("sandbox", "change_projects", "project", { agent: "any", agent_named: endpointsByAgents }),
        {
          summary: "Create an endpoint",
          act: "endpoint.created",
          text: "Gives a branch another endpoint: a read-only one, or the read-write one if it has none.",
          answer: "The endpoint, and the work that was started.",
          locatedAt: `${endpointsPath}/{endpoint.id}`,
          limitedBy: "creation"
        }
      )
    ),
    HttpApiEndpoint.get("get", `${endpointsPath}/:endpoint_id`, {
      params,
      success: Schema.Struct({ endpoint: EndpointRecord })
    }).annotateMerge(
      endpointRules(reads("endpoint", "branch"), {
        summary: "Read an endpoint",
        text: "One endpoint.",
        answer: "The endpoint."
      })
    ),
    HttpApiEndpoint.patch("change", `${endpointsPath}/:endpoint_id`, {
      params,
      payload: ChangeEndpoint,
      success: worked,
      error: [ConflictProblem, QuotaExceededProblem, ResourceBusyProblem]
    }).annotateMerge(
      endpointRules(changes("sandbox", "change_projects", "endpoint", { reach: "branch", agent: "made_by_agent" }), {
        summary: "Disable an endpoint, or change its size or suspend timeout",
        act: "endpoint.changed",
        text: "Members that are left out stay as they are.",
        answer: "The endpoint, and the work that was started.",
        strictBody: true,
        ends: true
      })
    ),
    HttpApiEndpoint.delete("delete", `${endpointsPath}/:endpoint_id`, {
      params,
      success: accepted(Schema.Struct({ operations: Operations })),
      error: [ConflictProblem, ResourceBusyProblem]
    }).annotateMerge(
      endpointRules(changes("sandbox", "change_projects", "endpoint", { agent: "made_by_agent" }), {
        summary: "Delete an endpoint",
        act: "endpoint.deleted",
        text: "Ends its connections. The data of the branch stays.",
        answer: deletionStarted
      })
    ),
    HttpApiEndpoint.post("start", `${endpointsPath}/:endpoint_id/start`, {
      params,
      success: worked,
      error: [ConflictProblem, QuotaExceededProblem, ResourceBusyProblem]
    }).annotateMerge(
      endpointRules(changes("sandbox", "change_projects", "endpoint", { reach: "branch", agent: "any" }), {
        summary: "Start the compute of an endpoint",
        act: "endpoint.started",
        text: "Starts the compute ahead of the first connection, which would start it too.",
        answer: "The endpoint, and the work that was started; none: its compute runs already.",
        limitedBy: "creation"
      })
    ),
    HttpApiEndpoint.post("suspend", `${endpointsPath}/:endpoint_id/suspend`, {
      params,
      success: worked,
      error: [ConflictProblem, ResourceBusyProblem]
    }).annotateMerge(
      endpointRules(changes("sandbox", "change_projects", "endpoint", { reach: "branch", agent: "not_main" }), {
        summary: "Suspend the compute of an endpoint",
        act: "endpoint.suspended",
        text: "Ends its connections and stops the compute; the next connection starts it again.",
        answer: "The endpoint, and the work that was started; none: its compute is suspended already.",
        limitedBy: "creation",
        ends: true
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({ title: "Endpoints", description: "The host names that Postgres clients connect to." })
  ) {}

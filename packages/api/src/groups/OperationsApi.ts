/** The endpoints of operations: work that takes time, and a long poll for its end. */
import {
  BranchId,
  changes,
  EndpointId,
  OperationAction,
  OperationId,
  OperationStatus,
  ProjectId,
  reads
} from "@narthex/core"
import { Duration, Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ConflictProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { OperationRecord, Operations } from "../schemas/Shapes.ts"

/** How long a read waits for a final status: `1s` to `60s`, whole seconds. */
export const Wait = Schema.String.check(Schema.isPattern(/^([1-9]|[1-5]\d|60)s$/u)).pipe(
  Schema.decodeTo(
    Schema.Duration,
    SchemaTransformation.transform<Duration.Duration, string>({
      decode: (text) => Duration.seconds(Number.parseInt(text, 10)),
      encode: (duration) => `${Math.round(Duration.toSeconds(duration))}s`
    })
  )
)

/** Only operations with all these members (docs/design/api.md A19). */
export const operationFilter = {
  status: Schema.optionalKey(OperationStatus),
  action: Schema.optionalKey(OperationAction),
  branch_id: Schema.optionalKey(BranchId),
  endpoint_id: Schema.optionalKey(EndpointId)
}

const project = { project_id: ProjectId }

export class OperationsApi extends HttpApiGroup.make("operations")
  .add(
    HttpApiEndpoint.get("list", "/v1/projects/:project_id/operations", {
      params: project,
      query: { ...pageQuery, ...operationFilter },
      success: Schema.Struct({ operations: Operations, pagination: Pagination })
    }).annotateMerge(
      endpointRules(reads("project", "branch"), {
        summary: "List operations",
        text: "The work of the project, of the last 30 days. Filters are combined: an operation fits all that are given.",
        answer: "A page of operations."
      })
    ),
    HttpApiEndpoint.get("get", "/v1/projects/:project_id/operations/:operation_id", {
      params: { ...project, operation_id: OperationId },
      query: { wait: Schema.optionalKey(Wait) },
      success: Schema.Struct({ operation: OperationRecord })
    }).annotateMerge(
      endpointRules(reads("operation", "branch"), {
        summary: "Read an operation, or wait until it ends",
        text: "With `wait` the call answers when the operation has ended, or when the time is over, with the status reached by then.",
        answer: "The operation."
      })
    ),
    HttpApiEndpoint.post("cancel", "/v1/projects/:project_id/operations/:operation_id/cancel", {
      params: { ...project, operation_id: OperationId },
      success: Schema.Struct({ operation: OperationRecord }),
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(changes("write", "change_projects", "operation", { reach: "branch" }), {
        summary: "Cancel an operation",
        act: "operation.cancelled",
        text: "Deletions and `apply_config` cannot be cancelled, nor can an operation that has ended, or that ends a compute with a former size.",
        answer: "The operation, `cancelled` or `cancelling`.",
        limitedBy: "creation",
        ends: true
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Operations", description: "Work that takes time." })) {}

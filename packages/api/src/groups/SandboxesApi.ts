/** The endpoint of sandboxes: a child branch with an endpoint and a read-write credential, deleted when it expires. */
import { changes, exampleIds as ids, means, ProjectId } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ConflictProblem, QuotaExceededProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { AnyBranchId, BranchName, optionalBody, optionalNullable, SandboxTtlSeconds } from "../schemas/members.ts"
import { BranchRecord, created, EndpointRecord, Operations } from "../schemas/Shapes.ts"
import { branchNameText } from "../schemas/texts.ts"
import { MintedCredential } from "./BranchesApi.ts"

export const CreateSandbox = Schema.Struct({
  parent_id: optionalNullable(AnyBranchId).annotateKey(
    means("The branch to copy. Left out: the default branch of the project.", ids.branch)
  ),
  ttl_seconds: optionalNullable(SandboxTtlSeconds).annotateKey(
    means("After how many seconds the sandbox is deleted: 1 to 86400. Left out: 3600.", 3600)
  ),
  name: optionalNullable(BranchName).annotateKey(means(`${branchNameText} Left out: a name is made.`, "agent-run-17"))
})
export type CreateSandbox = typeof CreateSandbox.Type

export class SandboxesApi extends HttpApiGroup.make("sandboxes")
  .add(
    HttpApiEndpoint.post("create", "/v1/projects/:project_id/sandboxes", {
      params: { project_id: ProjectId },
      payload: optionalBody(CreateSandbox, {}),
      success: created(
        Schema.Struct({
          branch: BranchRecord,
          endpoint: EndpointRecord,
          ...MintedCredential.fields,
          operations: Operations
        })
      ),
      error: [ConflictProblem, QuotaExceededProblem]
    }).annotateMerge(
      endpointRules(changes("sandbox", "change_projects", "project", { agent: "any" }), {
        summary: "Create a sandbox",
        act: "sandbox.created",
        text: "A copy of a branch, an endpoint and a read-write credential in one call. All three are deleted after `ttl_seconds`, an hour unless it says otherwise. Made for agents and tests.",
        answer: "The branch, its endpoint, and the credential, whose password is shown this once.",
        strictBody: true,
        showsSecret: true,
        limitedBy: "creation",
        locatedAt: "/v1/projects/:project_id/branches/{branch.id}"
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Sandboxes", description: "Short-lived branches for agents." })) {}

/**
 * The endpoints of branches and of the Postgres credentials that are minted on them.
 *
 * Some members of bodies need a stricter policy: `protected` is refused to agent keys and branch keys, and a read-write
 * credential needs `mint_read_write` and, for agent keys, a branch that is not main (docs/design/authorization.md, rows
 * 22b to 25).
 */
import {
  Access,
  BranchId,
  CredentialView,
  changes,
  exampleIds as ids,
  means,
  ProjectId,
  RoleState,
  reads
} from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConflictProblem, QuotaExceededProblem, ResourceBusyProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { AnyBranchId, BranchName, optionalBody, optionalNullable, TtlSeconds } from "../schemas/members.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { accepted, BranchRecord, created, EndpointRecord, Operations, ShownSecret } from "../schemas/Shapes.ts"
import { branchNameText, deletionStarted } from "../schemas/texts.ts"

export const CreateBranch = Schema.Struct({
  name: optionalNullable(BranchName).annotateKey(means(`${branchNameText} Left out: a name is made.`, "preview")),
  parent_id: optionalNullable(AnyBranchId).annotateKey(
    means("The branch to copy. Left out: the default branch of the project.", ids.branch)
  ),
  protected: optionalNullable(Schema.Boolean).annotateKey(
    means("Whether the branch is protected from deletion and reset. Left out: `false`.", false)
  ),
  ttl_seconds: optionalNullable(TtlSeconds).annotateKey(
    means("After how many seconds the branch is deleted: up to ten years. Left out: never.", 86_400)
  ),
  endpoint: optionalNullable(Schema.Boolean).annotateKey(
    means("Whether the branch gets a read-write endpoint. Left out: `false`.", true)
  )
})
export type CreateBranch = typeof CreateBranch.Type

/** `null` does not mean left out here: a branch whose `ttl_seconds` is `null` never expires. */
export const ChangeBranch = Schema.Struct({
  name: optionalNullable(BranchName).annotateKey(means(branchNameText, "preview-2")),
  protected: optionalNullable(Schema.Boolean).annotateKey(
    means("Whether the branch is protected from deletion and reset.", true)
  ),
  ttl_seconds: Schema.optionalKey(Schema.NullOr(TtlSeconds)).annotateKey(
    means("After how many seconds from now the branch is deleted; `null`: never.", null)
  )
})
export type ChangeBranch = typeof ChangeBranch.Type

export const MintCredential = Schema.Struct({ access: Access, ttl_seconds: optionalNullable(TtlSeconds) })
export type MintCredential = typeof MintCredential.Type

/** A Postgres role, without its password. */
export const CredentialRecord = Schema.Struct({
  ...CredentialView.fields,
  access: Schema.Union([Access, Schema.String]),
  state: Schema.Union([RoleState, Schema.String])
}).annotate({ identifier: "Credential" })

export const MintedCredential = Schema.Struct({
  credential: CredentialRecord,
  password: ShownSecret,
  connection_uri: ShownSecret
})

const project = { project_id: ProjectId }
const params = { ...project, branch_id: BranchId }
const credential = { ...params, role: Schema.String }
const wrapped = Schema.Struct({ branch: BranchRecord })
const worked = Schema.Struct({ branch: BranchRecord, operations: Operations })
const branchesPath = "/v1/projects/:project_id/branches"

export class BranchesApi extends HttpApiGroup.make("branches")
  .add(
    HttpApiEndpoint.get("list", branchesPath, {
      params: project,
      query: pageQuery,
      success: Schema.Struct({ branches: Schema.Array(BranchRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(reads("project", "branch"), {
        summary: "List branches",
        text: "The branches of the project.",
        answer: "A page of branches."
      })
    ),
    HttpApiEndpoint.post("create", branchesPath, {
      params: project,
      payload: optionalBody(CreateBranch, {}),
      success: created(
        Schema.Struct({ branch: BranchRecord, endpoint: Schema.NullOr(EndpointRecord), operations: Operations })
      ),
      error: [ConflictProblem, QuotaExceededProblem]
    }).annotateMerge(
      endpointRules(changes("sandbox", "change_projects", "project", { agent: "any" }), {
        summary: "Create a branch",
        act: "branch.created",
        text: "Copies a branch with its data. It has no endpoint unless the body asks for one.",
        answer: "The branch, its endpoint if it has one, and the work that makes them.",
        locatedAt: `${branchesPath}/{branch.id}`,
        limitedBy: "creation",
        raisedBy: { member: "protected", values: [true], policy: changes("write", "change_projects", "project") }
      })
    ),
    HttpApiEndpoint.get("get", `${branchesPath}/:branch_id`, { params, success: wrapped }).annotateMerge(
      endpointRules(reads("branch", "branch"), { summary: "Read a branch", text: "One branch.", answer: "The branch." })
    ),
    HttpApiEndpoint.patch("change", `${branchesPath}/:branch_id`, {
      params,
      payload: ChangeBranch,
      success: wrapped,
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(changes("sandbox", "change_projects", "branch", { reach: "branch", agent: "made_by_agent" }), {
        summary: "Rename or protect a branch, or change when it expires",
        act: "branch.changed",
        text: "Members that are left out stay as they are.",
        answer: "The branch.",
        strictBody: true,
        raisedBy: { member: "protected", policy: changes("write", "change_projects", "branch") }
      })
    ),
    HttpApiEndpoint.delete("delete", `${branchesPath}/:branch_id`, {
      params,
      success: accepted(Schema.Struct({ operations: Operations })),
      error: [ConflictProblem, ResourceBusyProblem]
    }).annotateMerge(
      endpointRules(changes("sandbox", "change_projects", "branch", { agent: "made_by_agent" }), {
        summary: "Delete a branch",
        act: "branch.deleted",
        text: "Deletes its endpoints, credentials and data. The default branch, a protected one, and one that others were copied from are refused.",
        answer: deletionStarted
      })
    ),
    HttpApiEndpoint.post("reset", `${branchesPath}/:branch_id/reset`, {
      params,
      success: worked,
      error: [ConflictProblem, QuotaExceededProblem, ResourceBusyProblem]
    }).annotateMerge(
      endpointRules(
        changes("sandbox", "change_projects", "branch", {
          reach: "branch",
          reach_main: "project",
          agent: "made_by_agent"
        }),
        {
          summary: "Reset the branch to the current state of its parent",
          act: "branch.reset",
          text: "Replaces the branch's data by the present data of its parent. Its sessions end; its endpoints and credentials stay. The default branch, a protected one, and one without a parent are refused.",
          answer: "The branch, and the work that was started.",
          limitedBy: "creation"
        }
      )
    ),
    HttpApiEndpoint.post("setDefault", `${branchesPath}/:branch_id/set-default`, {
      params,
      success: worked,
      error: [ConflictProblem, ResourceBusyProblem]
    }).annotateMerge(
      endpointRules(changes("write", "change_projects", "branch"), {
        summary: "Make the branch the default branch of the project",
        act: "branch.made_default",
        text: "New branches are copied from the default branch unless they name another.",
        answer: "The branch, and the work that was started.",
        limitedBy: "creation"
      })
    ),
    HttpApiEndpoint.post("mint", `${branchesPath}/:branch_id/credentials`, {
      params,
      payload: MintCredential,
      success: created(MintedCredential),
      error: [ConflictProblem, QuotaExceededProblem]
    }).annotateMerge(
      endpointRules(changes("mint", "mint_read_only", "branch", { reach: "branch", agent: "any" }), {
        summary: "Mint a Postgres role on the branch; its password is shown once",
        act: "credential.created",
        text: "Makes a Postgres role on the branch, and a connection string with its password. Minting does not start a compute; the connection does.",
        answer: "The credential, and the password and connection string, which are shown this once.",
        strictBody: true,
        showsSecret: true,
        limitedBy: "creation",
        raisedBy: {
          member: "access",
          values: ["read_write"],
          policy: changes("mint", "mint_read_write", "branch", { reach: "branch", agent: "not_main" })
        }
      })
    ),
    HttpApiEndpoint.get("credentials", `${branchesPath}/:branch_id/credentials`, {
      params,
      query: pageQuery,
      success: Schema.Struct({ credentials: Schema.Array(CredentialRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(reads("branch", "branch"), {
        summary: "List the Postgres roles of the branch that the caller may revoke",
        text: "The Postgres roles that are valid, and ended ones until a compute has confirmed their end.",
        answer: "A page of credentials."
      })
    ),
    HttpApiEndpoint.delete("revokeCredential", `${branchesPath}/:branch_id/credentials/:role`, {
      params: credential,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(changes("mint", "mint_read_only", "credential", { reach: "branch", agent: "any" }), {
        summary: "Revoke a Postgres role of the branch and end its sessions",
        act: "credential.revoked",
        text: "Answers once a running compute has ended the role's sessions. If it does not confirm within 10 seconds, the answer is 503: the role is revoked all the same, and a repetition waits again.",
        answer: "The role is revoked, and its sessions have ended."
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Branches", description: "Copies of a project's data." })) {}

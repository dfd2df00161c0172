/** The endpoints of projects. Creating a project also creates its default branch and that branch's endpoint. */
import { changes, means, ProjectId, reads } from "@narthex/core"
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  ConflictProblem,
  QuotaExceededProblem,
  RegionImmutableProblem,
  RegionRequiredProblem,
  RegionUnknownProblem
} from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { includeOf } from "../schemas/Include.ts"
import { Name, optionalNullable, Pasted } from "../schemas/members.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import {
  AllowlistRecord,
  accepted,
  BranchRecord,
  created,
  EndpointRecord,
  Operations,
  ProjectRecord
} from "../schemas/Shapes.ts"
import { deletionStarted, nameText } from "../schemas/texts.ts"

const wanted = {
  name: Name.annotateKey(means(nameText("the project"), "checkout")),
  region: optionalNullable(Pasted).annotateKey(
    means(
      "The region of the project, which never changes. It may be left out while the platform has exactly one active region.",
      "eu-central"
    )
  ),
  size: optionalNullable(Pasted).annotateKey(
    means("The name of the size of its endpoint. Left out: the default of the platform.", "small")
  )
}
const Sent = Schema.Struct({
  ...wanted,
  region_id: optionalNullable(Pasted).annotateKey(
    means("An alias of `region`. If both are sent, they must be the same.", undefined)
  )
})
const Wanted = Schema.toType(Schema.Struct(wanted))
const contradicts = new SchemaIssue.InvalidValue({ message: "Expected region and region_id to be the same" })

/** `region_id` is an alias of `region`; two different values are refused. */
export const CreateProject = Sent.pipe(
  Schema.decodeTo(
    Wanted,
    SchemaTransformation.transformEffect<typeof Wanted.Encoded, typeof Sent.Type>({
      decode: ({ region_id, ...body }) => {
        if (region_id === undefined) return Effect.succeed(body)
        return body.region === undefined || body.region === region_id
          ? Effect.succeed({ ...body, region: region_id })
          : Effect.fail(new SchemaIssue.Pointer(["region_id"], contradicts))
      },
      encode: Effect.succeed
    })
  )
)
export type CreateProject = typeof CreateProject.Type

/** `region` and `region_id` are accepted only to be refused as `region_immutable`; with them, `name` may be missing. */
export const ChangeProject = Schema.Struct({
  name: Schema.optionalKey(Name).annotateKey(means(nameText("the project"), "checkout")),
  region: optionalNullable(Schema.Unknown).annotateKey(
    means("Always refused: the region of a project never changes.", undefined)
  ),
  region_id: optionalNullable(Schema.Unknown).annotateKey(
    means("Always refused: the region of a project never changes.", undefined)
  )
}).check(
  Schema.makeFilter(
    (body) => body.name !== undefined || wantsAnotherRegion(body) || { path: ["name"], issue: "Missing key" }
  )
)

/** Whether the body names a region, even the present one. */
export const wantsAnotherRegion = (body: { readonly region?: unknown; readonly region_id?: unknown }): boolean =>
  body.region !== undefined || body.region_id !== undefined

const params = { project_id: ProjectId }
const wrapped = Schema.Struct({ project: ProjectRecord })

/** A project with the parts that the query asks for. */
export const ProjectOverview = Schema.Struct({
  project: ProjectRecord,
  branches: Schema.optionalKey(Schema.Array(BranchRecord)).annotateKey(
    means("With `include=branches`: the newest 1,000 branches.", undefined)
  ),
  endpoints: Schema.optionalKey(Schema.Array(EndpointRecord)).annotateKey(
    means("With `include=endpoints`: the newest 1,000 endpoints.", undefined)
  ),
  operations: Schema.optionalKey(Operations).annotateKey(
    means("With `include=operations`: the newest 10 operations.", undefined)
  ),
  ip_allow: Schema.optionalKey(AllowlistRecord).annotateKey(means("With `include=ip_allow`: the allowlist.", undefined))
}).annotate({ identifier: "ProjectOverview" })
export type ProjectOverview = typeof ProjectOverview.Type

export class ProjectsApi extends HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("list", "/v1/projects", {
      query: { ...pageQuery, include: includeOf("endpoint", "branches") },
      success: Schema.Struct({ projects: Schema.Array(ProjectRecord), pagination: Pagination })
    }).annotateMerge(
      endpointRules(reads("none", "branch"), {
        summary: "List the projects that the credential may read",
        text: "The projects of the organization; a key of one project or branch sees that project. `include=endpoint` adds the endpoint of each, and when it was used last; `include=branches` adds how many branches there are, and their size.",
        answer: "A page of projects."
      })
    ),
    HttpApiEndpoint.post("create", "/v1/projects", {
      payload: CreateProject,
      success: created(
        Schema.Struct({
          project: ProjectRecord,
          branch: BranchRecord,
          endpoint: EndpointRecord,
          operations: Operations
        })
      ),
      error: [RegionRequiredProblem, RegionUnknownProblem, ConflictProblem, QuotaExceededProblem]
    }).annotateMerge(
      endpointRules(changes("write", "create_projects", "none", { reach: "organization" }), {
        summary: "Create a project with its default branch and endpoint",
        act: "project.created",
        text: "Makes the project, its default branch `main` and a read-write endpoint, which is suspended until the first connection. The work is one operation; wait for it before you connect.",
        answer: "The project, its default branch and endpoint, and the operation that makes them.",
        locatedAt: "/v1/projects/{project.id}",
        limitedBy: "creation"
      })
    ),
    HttpApiEndpoint.get("get", "/v1/projects/:project_id", { params, success: wrapped }).annotateMerge(
      endpointRules(reads("project", "project"), {
        summary: "Read a project",
        text: "One project.",
        answer: "The project."
      })
    ),
    HttpApiEndpoint.get("overview", "/v1/projects/:project_id/overview", {
      params,
      query: { include: includeOf("branches", "endpoints", "operations", "ip_allow") },
      success: ProjectOverview
    }).annotateMerge(
      endpointRules(reads("project", "project"), {
        summary: "Read a project with what is in it",
        text: "One project, and the parts of it that `include` names, each as its own list answers it: the newest 1,000 branches, the newest 1,000 endpoints, the newest 10 operations, and the allowlist.",
        answer: "The project, and the parts that the query asks for."
      })
    ),
    HttpApiEndpoint.patch("rename", "/v1/projects/:project_id", {
      params,
      payload: ChangeProject,
      success: wrapped,
      error: RegionImmutableProblem
    }).annotateMerge(
      endpointRules(changes("write", "change_projects", "project"), {
        summary: "Rename a project",
        act: "project.changed",
        text: "The name can change; the region cannot.",
        answer: "The project.",
        strictBody: true
      })
    ),
    HttpApiEndpoint.delete("delete", "/v1/projects/:project_id", {
      params,
      success: accepted(Schema.Struct({ operations: Operations })),
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(changes("destroy", "delete_projects", "project"), {
        summary: "Delete a project and everything in it",
        act: "project.deleted",
        text: "Deletes its branches, endpoints and data, revokes the keys and credentials that are scoped to it, and ends its event streams.",
        answer: deletionStarted
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Projects", description: "Storage and compute in one region." })) {}

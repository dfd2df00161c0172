/** `list_projects`, `describe_project`, `wait_for_operation`: what there is, and whether its work is over. */
import { type AllowlistRecord, idForms, type OperationId } from "@narthex/api"
import { Duration, Effect, Schema } from "effect"
import { Tool } from "effect/ai"
import { Caller } from "../access/Caller.ts"
import { calling } from "../access/explain.ts"
import { type FoundBranch, isMain, projectOf } from "../access/names.ts"
import { Refused } from "../access/Refused.ts"
import { reads } from "./hints.ts"
import { mark, marked } from "./marked.ts"
import { projectParameter } from "./parameters.ts"

export const BranchShown = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  main: Schema.Boolean.annotate({ description: "SQL on main only reads." }),
  state: Schema.String,
  parent_id: Schema.NullOr(Schema.String),
  expires_at: Schema.NullOr(Schema.DateTimeUtcFromString)
})

export const branchShown = (branch: FoundBranch): typeof BranchShown.Type => ({
  id: branch.id,
  name: branch.name,
  main: isMain(branch),
  state: branch.current_state,
  parent_id: branch.parent_id,
  expires_at: branch.expires_at
})

export const OperationShown = Schema.Struct({
  id: Schema.String,
  action: Schema.String,
  status: Schema.String,
  finished: Schema.Boolean
})

export const operationShown = (operation: {
  readonly id: string
  readonly action: string
  readonly status: string
  readonly finished_at: unknown
}): typeof OperationShown.Type => ({
  id: operation.id,
  action: operation.action,
  status: operation.status,
  finished: operation.finished_at !== null
})

export const listProjects = Tool.make("list_projects", {
  description: "Lists the projects that the key may read. Each project is a Postgres database with branches.",
  parameters: Schema.Struct({
    limit: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({
        description: "How many projects. Default: 50."
      })
    ),
    cursor: Schema.optionalKey(Schema.String.annotate({ description: "`next_cursor` of the page before." }))
  }),
  success: marked(
    Schema.Struct({
      projects: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, region: Schema.String })),
      next_cursor: Schema.NullOr(Schema.String)
    })
  ),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(reads)

export const describeProject = Tool.make("describe_project", {
  description: "Shows the branches, the endpoints and the IP allowlist of a project.",
  parameters: Schema.Struct({ project: projectParameter }),
  success: marked(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      region: Schema.String,
      branches: Schema.Array(BranchShown),
      endpoints: Schema.Array(
        Schema.Struct({ id: Schema.String, branch_id: Schema.String, type: Schema.String, state: Schema.String })
      ),
      allowlist: Schema.String
    })
  ),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(reads)

/** The longest that one call waits. */
const longestWait = 60

export const waitForOperation = Tool.make("wait_for_operation", {
  description: "Waits until an operation is over, at most 60 seconds, and shows its status then.",
  parameters: Schema.Struct({
    project: projectParameter,
    operation: Schema.String.check(Schema.isPattern(idForms.operation)).annotate({
      description: "The id of the operation."
    })
  }),
  success: marked(OperationShown),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(reads)

const allowlistInWords = ({ restricted, rules }: typeof AllowlistRecord.Type): string => {
  if (!restricted) return "Every address may connect."
  const networks = rules.map(({ cidr }) => cidr).join(", ")
  return networks === "" ? "No address may connect." : `Only these networks may connect: ${networks}.`
}

export const projectHandlers = {
  list_projects: Effect.fn("list_projects")(function* (given: typeof listProjects.parametersSchema.Type) {
    const { pagination, projects } = yield* calling(({ api }) =>
      api.projects.list({ query: { ...given, limit: given.limit ?? 50 } })
    )
    return mark({
      projects: projects.map(({ id, name, region_id }) => ({ id, name, region: region_id })),
      next_cursor: pagination.next_cursor
    })
  }),
  describe_project: Effect.fn("describe_project")(function* (given: typeof describeProject.parametersSchema.Type) {
    const project_id = yield* projectOf(given.project)
    const {
      branches = [],
      endpoints = [],
      ip_allow,
      project
    } = yield* calling(({ api }) =>
      api.projects.overview({ params: { project_id }, query: { include: ["branches", "endpoints", "ip_allow"] } })
    )
    return mark({
      id: project.id,
      name: project.name,
      region: project.region_id,
      branches: branches.map(branchShown),
      endpoints: endpoints.map(({ branch_id, current_state, id, type }) => ({
        id,
        branch_id,
        type,
        state: current_state
      })),
      allowlist: ip_allow === undefined ? "It is not known." : allowlistInWords(ip_allow)
    })
  }),
  wait_for_operation: Effect.fn("wait_for_operation")(function* (given: typeof waitForOperation.parametersSchema.Type) {
    const project_id = yield* projectOf(given.project)
    const operation_id = given.operation as OperationId // The pattern is that of operation ids.
    const { operation } = yield* calling(({ api }) =>
      api.operations.get({ params: { project_id, operation_id }, query: { wait: Duration.seconds(longestWait) } })
    )
    return mark(operationShown(operation))
  })
}

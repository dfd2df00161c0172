/**
 * `create_sandbox`, `reset_sandbox`, `delete_sandbox`: short-lived copies of a branch, in which an agent may do anything.
 *
 * The credential that comes with a sandbox is kept by the server; the model never sees it. A branch that does not expire is
 * no sandbox, so these tools neither reset nor delete it, whatever the key may do.
 */
import { BranchName, SandboxTtlSeconds } from "@narthex/api"
import { Effect, Schema } from "effect"
import { Tool } from "effect/ai"
import { Caller } from "../access/Caller.ts"
import { DatabaseCredentials } from "../access/DatabaseCredentials.ts"
import { calling } from "../access/explain.ts"
import { branchNamed, branchOf, projectOf } from "../access/names.ts"
import { Refused } from "../access/Refused.ts"
import { adds, destroys } from "./hints.ts"
import { mark, marked } from "./marked.ts"
import { branchParameter, projectParameter } from "./parameters.ts"
import { BranchShown, branchShown, OperationShown, operationShown } from "./projects.ts"

const Changed = marked(Schema.Struct({ branch: BranchShown, operations: Schema.Array(OperationShown) }))

export const createSandbox = Tool.make("create_sandbox", {
  description:
    "Makes a sandbox: a copy of a branch with its data, deleted when it expires. Any SQL may run in it. Use it before a change to main is proposed.",
  parameters: Schema.Struct({
    project: projectParameter,
    parent: Schema.optionalKey(
      Schema.String.annotate({ description: "The branch to copy, its id or name. Default: the default branch." })
    ),
    ttl_seconds: Schema.optionalKey(
      SandboxTtlSeconds.annotate({ description: "Seconds until it is deleted, at most 86400. Default: 3600." })
    ),
    name: Schema.optionalKey(
      BranchName.annotate({ description: "The name of the branch. Default: chosen by the server." })
    )
  }),
  success: Changed,
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(adds)

const target = { project: projectParameter, branch: branchParameter }

export const resetSandbox = Tool.make("reset_sandbox", {
  description: "Replaces the data of a sandbox by the present data of the branch that it was copied from.",
  parameters: Schema.Struct(target),
  success: Changed,
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(destroys)

export const deleteSandbox = Tool.make("delete_sandbox", {
  description: "Deletes a sandbox and its data.",
  parameters: Schema.Struct(target),
  success: marked(Schema.Struct({ operations: Schema.Array(OperationShown) })),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(destroys)

const sandboxOf = Effect.fnUntraced(function* (given: { readonly project: string; readonly branch: string }) {
  const branch = yield* branchOf(given.project, given.branch)
  if (branch.expires_at === null)
    return yield* new Refused({
      rule: "not_a_sandbox",
      reason: "The branch does not expire, so it is not a sandbox.",
      allowed: "branches that expire, as create_sandbox makes them."
    })
  return branch
})

export const makeSandboxHandlers = Effect.gen(function* () {
  const { keep } = yield* DatabaseCredentials
  return {
    create_sandbox: Effect.fn("create_sandbox")(function* (given: typeof createSandbox.parametersSchema.Type) {
      const { name, parent, project, ttl_seconds } = given
      const project_id = yield* projectOf(project)
      const parent_id = parent === undefined ? undefined : yield* branchNamed(project_id, parent)
      const payload = {
        ...(name === undefined ? {} : { name }),
        ...(parent_id === undefined ? {} : { parent_id }),
        ...(ttl_seconds === undefined ? {} : { ttl_seconds })
      }
      const made = yield* calling(({ api }) => api.sandboxes.create({ params: { project_id }, payload }))
      yield* keep(made.branch, "read_write", made)
      return mark({ branch: branchShown(made.branch), operations: made.operations.map(operationShown) })
    }),
    reset_sandbox: Effect.fn("reset_sandbox")(function* (given: typeof resetSandbox.parametersSchema.Type) {
      const { id, project_id } = yield* sandboxOf(given)
      const { branch, operations } = yield* calling(({ api }) =>
        api.branches.reset({ params: { project_id, branch_id: id } })
      )
      return mark({ branch: branchShown(branch), operations: operations.map(operationShown) })
    }),
    delete_sandbox: Effect.fn("delete_sandbox")(function* (given: typeof deleteSandbox.parametersSchema.Type) {
      const { id, project_id } = yield* sandboxOf(given)
      const { operations } = yield* calling(({ api }) => api.branches.delete({ params: { project_id, branch_id: id } }))
      return mark({ operations: operations.map(operationShown) })
    })
  }
})

/**
 * The scope of a new key as a caller writes it: the object, or `"organization"`, `"project:<project_id>"`,
 * `"branch:<branch_id>"`. Answers always hold the object.
 *
 * The short form of a branch names no project: `project_id` is missing and the service looks it up.
 */
import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { AnyBranchId, AnyProjectId } from "./members.ts"

const Organization = Schema.Struct({ type: Schema.Literal("organization") })
const Project = Schema.Struct({ type: Schema.Literal("project"), project_id: AnyProjectId })
const Branch = Schema.Struct({ type: Schema.Literal("branch"), project_id: AnyProjectId, branch_id: AnyBranchId })
const ShortBranch = Schema.Struct({ type: Schema.Literal("branch"), branch_id: AnyBranchId })

const Decoded = Schema.toType(Schema.Union([Organization, Project, Branch, ShortBranch]))
const expected = 'Expected "organization", "project:<project_id>" or "branch:<branch_id>"'

const Short = Schema.String.pipe(
  Schema.decodeTo(
    Decoded,
    SchemaTransformation.transformEffect<typeof Decoded.Type, string>({
      decode: (text) => {
        const [, kind, id = ""] = /^(project|branch):(.*)$/su.exec(text) ?? []
        if (kind === "project") return Effect.succeed({ type: "project", project_id: project(id) })
        if (kind === "branch") return Effect.succeed({ type: "branch", branch_id: branch(id) })
        return text === "organization"
          ? Effect.succeed({ type: "organization" })
          : Effect.fail(new SchemaIssue.InvalidValue({ message: expected }))
      },
      encode: (scope) =>
        scope.type === "branch" && !("project_id" in scope)
          ? Effect.succeed(`branch:${scope.branch_id}`)
          : Effect.fail(new SchemaIssue.InvalidValue({ message: "Expected a scope of short form" }))
    })
  )
)

const project = Schema.decodeSync(AnyProjectId)
const branch = Schema.decodeSync(AnyBranchId)

export const ScopeInput = Schema.Union([Organization, Project, Branch, Short])
export type ScopeInput = typeof ScopeInput.Type

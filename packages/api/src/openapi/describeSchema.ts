/**
 * A schema of the OpenAPI document with the texts of `memberCatalog`, formats of times and patterns of ids.
 *
 * Redundant bounds are removed: those of safe integers, and a minimal length where there is a pattern.
 */
import type { MemberEntry } from "@narthex/core"
import { idForms } from "../schemas/IdForms.ts"
import { isJson, isList, type Json, membersOf } from "./Json.ts"
import { memberEntry } from "./memberCatalog.ts"

/** member, or `Owner.member` → the kind of its id */
const idMembers: Readonly<Record<string, keyof typeof idForms>> = {
  org_id: "organization",
  user_id: "user",
  session_id: "session",
  invitation_id: "invitation",
  operation_id: "operation",
  blocking_operation_id: "operation",
  project_id: "project",
  branch_id: "branch",
  default_branch_id: "branch",
  parent_id: "branch",
  endpoint_id: "endpoint",
  api_key_id: "api_key",
  webhook_id: "webhook",
  "Project.id": "project",
  "NamedProject.id": "project",
  "MentionedProject.id": "project",
  "Branch.id": "branch",
  "NamedBranch.id": "branch",
  "Endpoint.id": "endpoint",
  "Operation.id": "operation",
  "ApiKey.id": "api_key",
  "api_key.id": "api_key",
  "Session.id": "session",
  "Invitation.id": "invitation",
  "OwnInvitation.id": "invitation",
  "OrganizationView.id": "organization",
  "ActiveOrganization.id": "organization",
  "organization.id": "organization",
  "UserProfile.id": "user",
  "UserRef.id": "user"
}

/** The schema of a text member, narrowed by what its name says: a time, or the id of something. */
const formOf = (owner: string, member: string): Json => {
  const kind = idMembers[`${owner}.${member}`] ?? idMembers[member]
  if (kind !== undefined) return { pattern: idForms[kind].source }
  return /(^|_)at$/.test(member) || member === "refresh_until" || member === "server_now" ? { format: "date-time" } : {}
}

const isPlainText = (schema: Json) => schema["type"] === "string" && schema["enum"] === undefined

const narrowed = (schema: Json, form: Json): Json => {
  if (isList(schema["anyOf"]))
    return { ...schema, anyOf: schema["anyOf"].map((part) => (isJson(part) ? narrowed(part, form) : part)) }
  if (!isPlainText(schema) || Object.keys(form).length === 0) return schema
  const { minLength: _, ...rest } = schema
  return { ...rest, ...form }
}

/** A member that takes any value, so that a refusal does not say what was wrong, is text by its meaning. */
const typed = (schema: Json, entry: MemberEntry | undefined): Json =>
  Object.keys(schema).length === 0 && typeof entry?.[1] === "string" ? { type: "string" } : schema

const withoutSafeBounds = ({ maximum, minimum, ...rest }: Json): Json => ({
  ...rest,
  ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
  ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum })
})

const member = (owner: string, name: string, schema: Json): Json => {
  const entry = memberEntry(owner, name)
  const inner = narrowed(describeSchema(typed(schema, entry), name), formOf(owner, name))
  return entry === undefined ? inner : { ...inner, description: entry[0] }
}

/** The schema with texts for its members; `owner` is what they are looked up under. */
export const describeSchema = (schema: Json, owner: string): Json =>
  Object.fromEntries(
    membersOf(withoutSafeBounds(schema)).map(([key, value]) => {
      if (key === "properties")
        return [
          key,
          Object.fromEntries(membersOf(value).map(([name, it]) => [name, isJson(it) ? member(owner, name, it) : it]))
        ]
      if (key === "items" && isJson(value)) return [key, describeSchema(value, owner)]
      if (key === "anyOf" && isList(value))
        return [key, value.map((part) => (isJson(part) ? describeSchema(part, owner) : part))]
      return [key, value]
    })
  )

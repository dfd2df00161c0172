/** An answer that is no success, as the API server words it. */
import type { Fields } from "./json.ts"
import { nameOf, type Resource } from "./resources.ts"

export class ApiFailure extends Error {
  readonly code: number
  readonly reason: string
  readonly details: Fields

  constructor(code: number, reason: string, message: string, details: Fields = {}) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = details
  }

  /** The body of the answer. */
  get status(): Fields {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message,
      reason: this.reason,
      details: this.details,
      code: this.code
    }
  }
}

const about = (resource: Resource, name: string): Fields => ({ name, group: resource.group, kind: resource.plural })

export const notFound = (resource: Resource, name: string) =>
  new ApiFailure(404, "NotFound", `${nameOf(resource)} "${name}" not found`, about(resource, name))

export const alreadyExists = (resource: Resource, name: string) =>
  new ApiFailure(409, "AlreadyExists", `${nameOf(resource)} "${name}" already exists`, about(resource, name))

export const conflict = (resource: Resource, name: string, why: string) =>
  new ApiFailure(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${nameOf(resource)} "${name}": ${why}`,
    about(resource, name)
  )

export const invalid = (resource: Resource, name: string, why: string) =>
  new ApiFailure(422, "Invalid", `${resource.kind}.${resource.group} "${name}" is invalid: ${why}`, {
    ...about(resource, name),
    causes: [{ reason: "FieldValueInvalid", message: why }]
  })

export const badRequest = (message: string) => new ApiFailure(400, "BadRequest", message)

export const expired = (message: string) => new ApiFailure(410, "Expired", message)

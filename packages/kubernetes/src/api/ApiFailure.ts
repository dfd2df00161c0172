/** An API server did not do what it was asked. */
import { Schema } from "effect"

export class ApiFailure extends Schema.TaggedError<ApiFailure>()("ApiFailure", {
  /** The HTTP status; 0: there was no answer. */
  status: Schema.Int,
  /** The reason of Kubernetes' `Status`, for example `AlreadyExists`. */
  reason: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `The Kubernetes API answered ${this.status === 0 ? "nothing" : this.status} (${this.reason}): ${this.detail}`
  }
}

/** The object has changed since it was read, or is another one than that. */
export const isConflict = (error: unknown): boolean =>
  error instanceof ApiFailure && error.status === 409 && error.reason !== "AlreadyExists"

export const isAlreadyThere = (error: unknown): boolean =>
  error instanceof ApiFailure && error.status === 409 && error.reason === "AlreadyExists"

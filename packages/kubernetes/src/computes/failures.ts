/**
 * Failures as the port declares them: a sentence for API users, and what the machine said for the operator.
 *
 * Pitfall: passing a message on. It has names of the operator's cluster in it.
 */
import type { SessionFailure } from "@narthex/compute-roles"
import { ComputeFailed } from "@narthex/core"
import { Effect, Schema } from "effect"
import type { ApiFailure } from "../api/ApiFailure.ts"

/** A session on the server of a branch failed, or was not opened. */
export class SessionFailed extends Schema.TaggedError<SessionFailed>()("SessionFailed", {
  reason: Schema.String,
  sqlstate: Schema.optional(Schema.String),
  busy: Schema.optional(Schema.Boolean)
}) {
  override get message() {
    return this.reason
  }
}

export type DriverFailure = ApiFailure | ComputeFailed | SessionFailed

/** A retry cannot help. */
export const refused = (reason: string, detail?: string) =>
  new ComputeFailed({ reason, retryable: false, ...(detail === undefined ? {} : { detail }) })

/** There is no room for the work now. */
export const busy = (reason: string, detail?: string) =>
  new ComputeFailed({ reason, retryable: true, busy: true, ...(detail === undefined ? {} : { detail }) })

export const again = (reason: string, detail?: string) =>
  new ComputeFailed({ reason, retryable: true, ...(detail === undefined ? {} : { detail }) })

export const overtaken = busy("A later request has taken over this branch.")

/** Too many connections, a lock or a statement that took too long, a deadlock, and a server that stops or starts. */
const busyStates = new Set(["53300", "53400", "55P03", "57014", "40P01", "57P01", "57P02", "57P03"])

/** The failure of work on a server. */
export const serverFailed = ({ busy: waits, message, sqlstate }: SessionFailure) => {
  if (sqlstate === "53100") return again("There is not enough free disk space.", message)
  return waits === true || busyStates.has(sqlstate ?? "")
    ? busy("The database is busy; the work is repeated until it succeeds.", message)
    : again("The database server could not do this.", message)
}

const apiFailed = (failure: ApiFailure) => {
  const { message, status } = failure
  if (status === 409) return busy("The branch is being changed at the same time.", message)
  if (status === 403) return again("The operator has to give the control plane more rights.", message)
  if (status === 400 || status === 422) {
    return refused("The machines cannot make this; the operator has to look at the settings.", message)
  }
  return again("The machines that run databases cannot be reached. Try again.", message)
}

export const asComputeFailed = <A, R>(effect: Effect.Effect<A, DriverFailure, R>): Effect.Effect<A, ComputeFailed, R> =>
  Effect.mapError(effect, (failure) => {
    switch (failure._tag) {
      case "ApiFailure":
        return apiFailed(failure)
      case "SessionFailed":
        return serverFailed(failure)
      case "ComputeFailed":
        return failure
    }
  })

/** Fails as `busy` when the effect takes longer. */
export const within = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  seconds: number,
  reason: string,
  detail?: () => string
) =>
  Effect.timeoutOrElse(effect, {
    duration: `${seconds} seconds`,
    orElse: () => Effect.fail(busy(reason, detail?.()))
  })

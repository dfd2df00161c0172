/**
 * A call of the host rejects with a `NarthexError`, as calls of the API do (docs/design/library.md N22).
 *
 * A failure that the API also answers has its code, status and sentences. A failure that only a host can meet has a code
 * of `hostFailures`.
 */
import { type ClientFailureCode, clientFailure, NarthexError, type ProblemCode } from "@narthex/api"
import { EventRefused, MalformedEventType, MalformedRoles, StorageError, TransactionRefused } from "@narthex/core"
import { detailOf, problemOf, SigningKeysUnreadable } from "@narthex/http/web"
import { Cause, Predicate } from "effect"

/** Codes that only a host meets. They are stable, like those of `problemCatalog`. */
export const hostFailures = {
  invalid_options: "The options do not make a control plane.",
  account_disabled: "The account is disabled.",
  target_invalid: "The target of a requirement does not name an object.",
  event_type_undeclared: "The event type is not declared.",
  event_data_invalid: "The data does not fit the event type.",
  event_data_too_large: "The data of the event is too large.",
  transaction_refused: "The call cannot run in this transaction.",
  closed: "The control plane is closed.",
  internal: "The call failed for a reason that it does not declare."
} as const

export type HostFailureCode = keyof typeof hostFailures

/**
 * Whether the error is one of the host's own calls, a refusal of the API, or a failure of the client.
 *
 * @example
 * import { createControlPlane, isNarthexError } from "narthex"
 * await createControlPlane({ secret: process.env["SECRET"] ?? "" }).catch((error: unknown) => {
 *   if (isNarthexError(error) && error.code === "invalid_options") console.error(error.detail)
 * })
 */
export const isNarthexError = (
  error: unknown
): error is NarthexError<HostFailureCode | ProblemCode | ClientFailureCode | (string & {})> =>
  error instanceof NarthexError

/** `detail`: what is known in addition, with what to do next. */
export const hostFailure = (code: HostFailureCode, detail: string, cause?: unknown) =>
  new NarthexError<HostFailureCode>({
    code,
    title: hostFailures[code],
    detail,
    ...(cause === undefined ? {} : { cause })
  })

export const invalidOptions = (detail: string, cause?: unknown) => hostFailure("invalid_options", detail, cause)

export const closedFailure = () => hostFailure("closed", "The control plane is closed. Make another one.")

/** Failures that only a host meets. */
const ofHost = (error: unknown) => {
  if (Predicate.isTagged(error, "AccountDisabled"))
    return hostFailure("account_disabled", "The account is disabled. Enable it before the person signs in.", error)
  if (error instanceof EventRefused) return hostFailure(error.code, error.message, error)
  if (error instanceof TransactionRefused) return hostFailure("transaction_refused", error.message, error)
  if (error instanceof MalformedEventType) return invalidOptions(`eventTypes: ${error.message}`, error)
  if (error instanceof SigningKeysUnreadable)
    return invalidOptions(
      "secret: it does not open the signing keys in the storage. Give the secret that they were made with.",
      error
    )
  return error instanceof MalformedRoles ? invalidOptions(`roles: ${error.message}`, error) : undefined
}

/** The error that a host gets for a failure. */
export const toFailure = (error: unknown): NarthexError => {
  if (error instanceof NarthexError) return error
  const problem = problemOf(error)
  if (problem !== undefined) {
    const { code, status, title } = problem
    return new NarthexError({
      code,
      status,
      title,
      detail: problem.detail ?? detailOf(code),
      retry_after_ms: "retry_after_ms" in problem ? problem.retry_after_ms : undefined,
      cause: error
    })
  }
  return ofHost(error) ?? hostFailure("internal", "The call failed. The cause says why; report it if it stays.", error)
}

/** The same where the control plane is made: its reader operates the storage, so it says what the storage said. */
export const toStartFailure = (error: unknown): NarthexError => {
  const { code, detail, status, title } = toFailure(error)
  return error instanceof StorageError
    ? new NarthexError({ code, status, title, detail: `${detail} ${error.line}`, cause: error })
    : toFailure(error)
}

/** The same for the end of an effect that did not succeed. `signal`: of the call. */
export const failureOf = (cause: Cause.Cause<unknown>, signal: AbortSignal | undefined): NarthexError =>
  Cause.hasInterruptsOnly(cause) ? clientFailure("aborted", { cause: signal?.reason }) : toFailure(Cause.squash(cause))

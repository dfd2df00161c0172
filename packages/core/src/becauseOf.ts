/** How a step that failed appears in the operator's log: the caller's sentence, with the reason as an annotation. */
import { Cause, Effect } from "effect"
import { StorageError } from "./StorageError.ts"

const lineOf = (error: unknown): string => {
  if (error instanceof StorageError) return error.line
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/** The frames of a defect matter: no sentence was written for it. */
const ofDefect = (defect: unknown): string =>
  defect instanceof Error && !(defect instanceof StorageError) ? (defect.stack ?? lineOf(defect)) : lineOf(defect)

/** Why something failed, for an operator: each failure of a cause, or a failure on its own. Nothing for a tenant. */
export const reasonOf = (failure: unknown): string => {
  if (!Cause.isCause(failure)) return lineOf(failure)
  const reasons = failure.reasons.map((reason) => {
    if (Cause.isFailReason(reason)) return lineOf(reason.error)
    return Cause.isDieReason(reason) ? ofDefect(reason.defect) : "interrupted"
  })
  return [...new Set(reasons)].join("; ")
}

/**
 * Adds `reason` to what `log` writes: `Effect.logWarning("Purging failed.").pipe(becauseOf(cause))`.
 *
 * Pitfall: passing the cause to the log as an argument. It is printed as an object over many lines, without the sentence
 * of a `StorageError`.
 */
export const becauseOf =
  (failure: unknown) =>
  <A, E, R>(log: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => Effect.annotateLogs(log, "reason", reasonOf(failure)))

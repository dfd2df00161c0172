/** Wraps every command: prints its failure, and fails with the exit code alone. */
import { Effect } from "effect"
import { type CommandFailure, explain } from "../failures/explain.ts"
import { Reported } from "../failures/LocalFailure.ts"
import { Output } from "./Output.ts"

export const reporting = <A, E extends CommandFailure, R>(command: Effect.Effect<A, E, R>) =>
  Effect.catch(command, (failure) =>
    Effect.gen(function* () {
      const output = yield* Output
      const explanation = explain(failure)
      yield* Effect.logDebug(...causes(failure))
      yield* output.failure(explanation)
      return yield* new Reported({ exit: explanation.exit })
    })
  )

/**
 * The messages of an error and its causes.
 *
 * Pitfall: logging the cause itself. It can contain a request, whose headers contain the credential.
 */
const causes = (error: unknown): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return error === undefined ? [] : [String(error)]
  return [`${error.name}: ${error.message}`, ...causes(error.cause)]
}

/** The end of every command: its failure is printed, and what is left of it is an exit code. */
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

/** Messages alone: a request in a cause would bring its headers along. */
const causes = (error: unknown): ReadonlyArray<string> => {
  if (!(error instanceof Error)) return error === undefined ? [] : [String(error)]
  return [`${error.name}: ${error.message}`, ...causes(error.cause)]
}
